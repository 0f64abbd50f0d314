import { scryptSync } from 'node:crypto';
import { createLogger } from '../../../src/base/log.ts';
import { type AccountOptions, accountLimits } from '../../../src/control/accounts/account-options.ts';
import { inviteOperator } from '../../../src/control/accounts/operators.ts';
import { SignIn } from '../../../src/control/accounts/sign-in.ts';
import { buildHandlers } from '../../../src/control/api/handlers/handlers.ts';
import { ControlApi } from '../../../src/control/api/server/control-api.ts';
import { HttpApi } from '../../../src/control/api/server/http-api.ts';
import type { ApiServices } from '../../../src/control/api/services.ts';
import type { Store } from '../../../src/control/database/store.ts';
import type { Mailer } from '../../../src/control/notifications/email.ts';
import { registerOn, testPeppers } from '../register.ts';
import { withValidatedOutput } from '../validate-output.ts';

export const ORIGIN = 'http://solway.test';
export const PASSWORD = 'correct horse battery';
const ADDRESS = '192.0.2.1';

type Mail = Parameters<Mailer['send']>[0];

export type AccountsFixtureOptions = Partial<Pick<AccountOptions, 'signUp' | 'publicUrl' | 'oidc'>> & {
  limits?: Partial<AccountOptions['limits']>;
  scannerKeys?: ApiServices['keys']['scannerKeys'];
  beforeHash?: () => Promise<void>;
};

type HashedPassword = { hash: string; password: string };

const cheapHash = async (password: string): Promise<string> =>
  scryptSync(password, 'salt', 32, { N: 2 }).toString('hex');

let fixtures = 0;

export async function openAccountsFixture(store: Store, options: AccountsFixtureOptions = {}) {
  await registerOn(store);
  const { version: since } = await store.db
    .selectFrom('change_counter')
    .select('version')
    .executeTakeFirstOrThrow();
  const clock = { now: Date.now() };
  const mails: Mail[] = [];
  const logged: string[] = [];
  const log = createLogger('trace', (line) => void logged.push(line));
  const accounts: AccountOptions = {
    signUp: options.signUp ?? 'invited',
    publicUrl: options.publicUrl ?? null,
    oidc: options.oidc ?? [],
    limits: { ...accountLimits, ...options.limits },
  };
  const { scannerKeys = [] } = options;
  const mailer: Mailer = { send: async (mail) => void mails.push(mail) };
  const services: ApiServices = {
    store,
    peppers: testPeppers,
    keys: { keysMax: 1_000, customerKeysMax: 100, overlapHours: 24, revokeLeaked: false, scannerKeys },
    endpoints: [],
    now: () => clock.now,
    dispatcher: null,
    mailer,
    accounts,
    configuration: () => ({ server: { port: 1 } }),
    configurationFile: null,
    service: () => ({
      version: 'test',
      signUp: accounts.signUp,
      oidc: accounts.oidc.map(({ id, name }) => ({ id, name })),
      network: 'mainnet-beta',
      networks: ['mainnet-beta', 'devnet', 'testnet', 'staging'],
      urls: { http: ORIGIN, ws: 'ws://solway.test', grpc: null },
      hasShredStage: false,
      mode: 'production',
      plans: [{ id: 'default', name: 'default' }],
    }),
  };
  const api = new ControlApi({ services, handlers: withValidatedOutput(buildHandlers(services)), log });
  const mailReset = async (to: string, token: string) =>
    void mails.push({ to, subject: 'reset', text: token });
  const hashing = {
    hash: async (password: string) => {
      await options.beforeHash?.();
      return cheapHash(password);
    },
    verify: async ({ hash, password }: HashedPassword) => {
      await options.beforeHash?.();
      return hash === (await cheapHash(password));
    },
  };
  const signInParts = {
    hashing,
    store,
    peppers: testPeppers,
    options: accounts,
    fallbackUrl: ORIGIN,
    mailReset,
  };
  const signIn = new SignIn({ ...signInParts, now: () => clock.now, log });
  await signIn.start();
  const http = new HttpApi({
    api,
    identify: (request, { address }) => signIn.identify(request, address),
    signIn: signIn.guard,
  });
  const operatorContext = {
    store,
    actor: 'cli:test',
    invitationMs: accounts.limits.invitationMs,
    now: () => clock.now,
  };
  return {
    ...{ store, clock, mails, logged, api, http, signIn, services, since },
    /** Unique, because several fixtures may share a store. */
    email: `root${++fixtures}@example.com`,
    browser: (address = ADDRESS) => new Browser(http, address, accounts.publicUrl ?? ORIGIN),
    inviteOperator: (email: string | null = null) => inviteOperator(operatorContext, email),
  };
}

export type AccountsFixture = Awaited<ReturnType<typeof openAccountsFixture>>;

// biome-ignore lint/suspicious/noExplicitAny: responses of any route; the contract is validated by the API itself
export type LooseJson = any;

export type ApiResponse = Readonly<{ status: number; json: LooseJson; headers: Headers; text: string }>;

export type RequestInput = Readonly<{
  body?: unknown;
  /** Overrides the headers of our pages; null removes one. */
  headers?: Readonly<Record<string, string | null>>;
}>;

/** A browser on one of our pages, which sends cookies and our headers. */
export class Browser {
  readonly cookies = new Map<string, string>();
  /** The Set-Cookie headers, unparsed. */
  readonly setCookies: string[] = [];
  readonly #http: HttpApi;
  readonly #origin: string;
  address: string;

  constructor(http: HttpApi, address: string, origin: string) {
    this.#http = http;
    this.address = address;
    this.#origin = origin;
  }

  async send(method: string, path: string, { body, headers = {} }: RequestInput = {}): Promise<ApiResponse> {
    const all: Record<string, string | null> = {
      host: new URL(this.#origin).host,
      ...(method !== 'GET' && { origin: this.#origin, 'sec-fetch-site': 'same-origin', 'x-solway': '1' }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(this.cookies.size > 0 && {
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      }),
      'user-agent': 'test browser',
      ...headers,
    };
    const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null);
    const request = new Request(new URL(path, this.#origin), {
      method,
      headers: given,
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const response = await this.#http.fetch(request, { address: this.address });
    this.#storeCookies(response.headers.getSetCookie());
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: jsonOf(text) };
  }

  get = (path: string, sent?: RequestInput) => this.send('GET', path, sent);
  post = (path: string, body: unknown = {}, sent?: RequestInput) =>
    this.send('POST', path, { body, ...sent });

  #storeCookies(cookies: readonly string[]): void {
    this.setCookies.push(...cookies);
    for (const cookie of cookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/max-age=0/i.test(cookie)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }

  signUp = (email: string, invitation: string | undefined, password = PASSWORD): Promise<ApiResponse> =>
    this.post('/api/auth/sign-up/email', { name: email.split('@')[0], email, password, invitation });
  signIn = (email: string, password = PASSWORD): Promise<ApiResponse> =>
    this.post('/api/auth/sign-in/email', { email, password });
  signOut = (): Promise<ApiResponse> => this.post('/api/auth/sign-out');
  accept = (token: string): Promise<ApiResponse> => this.post('/api/v1/invitations/accept', { token });
}

function jsonOf(text: string): LooseJson {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export async function firstOperator(fixture: AccountsFixture, email = fixture.email): Promise<Browser> {
  const browser = fixture.browser();
  const token = await fixture.inviteOperator();
  await browser.signUp(email, token);
  await browser.accept(token);
  return browser;
}

export const tokenIn = (link: string): string => link.slice(link.indexOf('#token=') + 7);

export async function joinByInvitation(
  fixture: AccountsFixture,
  by: Browser,
  customer: string,
  email: string,
  role: string,
): Promise<Browser> {
  const { json } = await by.post(`/api/v1/customers/${customer}/invitations`, { email, role });
  const token = tokenIn(json.link);
  const browser = fixture.browser();
  await browser.signUp(email, token);
  await browser.accept(token);
  return browser;
}
