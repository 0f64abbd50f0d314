import { accountLimits } from '../../src/control/accounts/account-options.ts';
import { AuthGuard } from '../../src/control/accounts/auth-guard.ts';
import type { SignInLibrary, SignInParts } from '../../src/control/accounts/sign-in-library.ts';
import { ApiError } from '../../src/control/api/api-error.ts';
import { acceptedLater } from './engine/accepted.ts';

export const from = 'browsers';
export const covers = ['control/accounts/auth-guard.ts', 'control/accounts/sign-up.ts'];

const paths = [
  ...['POST /sign-in/email', 'POST /sign-up/email', 'POST /sign-in/oauth2', 'POST /update-user'],
  ...['POST /change-password', 'POST /reset-password', 'GET /get-session', 'GET /list-sessions'],
  ...['POST /two-factor/enable', 'POST /two-factor/verify-totp', 'GET /reset-password/x', 'POST /none'],
];
const bodies = [
  '{"email":"Anna@example.com","password":"correct horse battery","rememberMe":true}',
  '{"name":"Anna","email":"a@b.example","password":"correct horse battery","invitation":"x"}',
  '{"providerId":"google","callbackURL":"/keys","errorCallbackURL":"//evil.example"}',
  '{"currentPassword":"a","newPassword":"correct horse battery","code":"123456","trustDevice":false}',
];

/** The first byte names the path; the rest is the body, and what the library answers. */
export const seeds: readonly Uint8Array[] = paths.flatMap((_, at) =>
  bodies.map((body) => Buffer.from([at, ...Buffer.from(body)])),
);

const away = new ApiError(503, 'STORE_AWAY', 'nobody is there');
const store = new Proxy(
  {},
  {
    get: () => {
      throw away;
    },
  },
);

let reported = '';
let forwarded: string | null = null;
const library = {
  handler: async (request: Request) => {
    forwarded = request.method === 'GET' ? null : await request.text();
    return new Response(reported, { headers: { location: reported.replaceAll(/[^\x20-\x7e]/g, '') } });
  },
  api: { getSession: async () => null },
} as unknown as SignInLibrary;

const parts = {
  ...{
    store,
    options: { signUp: 'open', publicUrl: null, oidc: [], limits: accountLimits },
    fallbackUrl: 'http://127.0.0.1:1',
  },
  ...{ mailReset: null, now: Date.now, log: { warn: () => {}, debug: () => {} } },
} as unknown as SignInParts;

function bodyIn(text: string): Record<string, unknown> | null {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && !Array.isArray(body) ? (body as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}

/** Whatever is sent, it is refused with words, or it comes to the library as JSON whose redirects stay here. */
export async function fuzz(bytes: Uint8Array): Promise<boolean> {
  const [method = '', path = ''] = paths[(bytes[0] ?? 0) % paths.length]?.split(' ') ?? [];
  reported = Buffer.from(bytes.subarray(1)).toString();
  forwarded = null;
  const headers = { 'x-solway': '1', host: '127.0.0.1:1', origin: 'http://127.0.0.1:1' };
  const request = new Request(`http://127.0.0.1:1/api/auth${path}`, { method, headers });
  // A door of its own each time: nobody is locked out for what others tried.
  const client = new AuthGuard(parts, () => library);
  const isTaken = await acceptedLater(async () => {
    const answer = await client.handle({
      request,
      address: '127.0.0.1',
      requestId: 'x',
      body: bodyIn(reported),
    });
    if (answer.location !== null && !/^\/(?![/\\])/.test(answer.location)) throw new Error('leads elsewhere');
  }, ApiError);
  const sent = forwarded === null ? {} : (JSON.parse(forwarded) as Record<string, unknown>);
  for (const field of ['callbackURL', 'errorCallbackURL', 'redirectTo']) {
    if (sent[field] !== undefined && !/^\/(?![/\\])/.test(String(sent[field])))
      throw new Error(`${field} leads elsewhere`);
  }
  return isTaken;
}
