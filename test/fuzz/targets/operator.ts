import { generateKeyPairSync, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { crc32, gzipSync } from 'node:zlib';
import { CidrSet, parseIpAddress } from '../../../src/base/ip-address.ts';
import { loadConfiguration } from '../../../src/config/configuration.ts';
import { ConfigurationError } from '../../../src/config/errors.ts';
import { accountLimits } from '../../../src/control/accounts/account-options.ts';
import { AuthGuard } from '../../../src/control/accounts/auth-guard.ts';
import type { SignInLibrary, SignInParts } from '../../../src/control/accounts/sign-in-library.ts';
import { ApiError } from '../../../src/control/api/api-error.ts';
import {
  type ContractName,
  contract,
  type RawRouteInput,
} from '../../../src/control/api/contract/contract.ts';
import { decodeCursor, decodeSortedCursor, encodeCursor } from '../../../src/control/api/cursor.ts';
import {
  parseRouteInput,
  readBytes,
  readJson,
  readQuery,
} from '../../../src/control/api/server/read-request.ts';
import { BackupError, backupTables } from '../../../src/control/database/backup/backup.ts';
import { readBackupFile } from '../../../src/control/database/backup/backup-file.ts';
import { readScannerKey, reportVerifier } from '../../../src/control/keys/leaked-keys.ts';
import {
  checkRules,
  noRules,
  normalRange,
  type RuleColumns,
} from '../../../src/control/keys/rule-columns.ts';
import {
  type JournalCorruption,
  journalLine,
  readJournal,
  readJournalLine,
} from '../../../src/control/usage/usage-journal.ts';
import type { StoredUsage } from '../../../src/control/usage/usage-rows.ts';
import { generateApiKey, parseApiKey } from '../../../src/gateway/auth/api-key.ts';
import { rejectionOf } from '../../../src/gateway/auth/key-rules.ts';
import { Failure } from '../../../src/protocol/errors.ts';
import { products } from '../../../src/protocol/product.ts';
import { scratchFolder } from '../engine/scratch.ts';
import { accepted, acceptedLater, jsonIn, selecting, type Target, texts } from '../engine/target.ts';

const GOOD = generateApiKey('rpc').text;

export const apiKeyTarget: Target = {
  seeds: [Buffer.from(GOOD), Buffer.from(generateApiKey('grpc').text)],
  /** Only text with a valid checksum is a key; a damaged key is refused. */
  fuzz(bytes: Uint8Array): boolean {
    const text = Buffer.from(bytes).toString('latin1');
    const parsed = parseApiKey(text);
    if (typeof parsed !== 'string' && !text.startsWith(`${products[parsed.product].prefix}${parsed.id}`)) {
      throw new Error(`read ${parsed.product} and ${parsed.id} out of another key`);
    }
    for (let i = 0; i + 1 < bytes.length; i += 2) {
      const at = (bytes[i] as number) % GOOD.length;
      const damaged = GOOD.slice(0, at) + String.fromCharCode(bytes[i + 1] as number) + GOOD.slice(at + 1);
      if (damaged !== GOOD && typeof parseApiKey(damaged) !== 'string') {
        throw new Error(`a damaged key passed, character ${at}`);
      }
    }
    return typeof parsed !== 'string';
  },
};

const key = {
  product: 'rpc',
  isPublic: false,
  plan: { id: 'p', rpc_per_second: 100, rpc_burst: 100 },
} as const;
const listOf = (line: string | undefined): string[] | null =>
  line === undefined || line === '' ? null : line.split(',');
const probes = ['192.0.2.7', '10.0.0.1', '2001:db8::5', '::1'].map((text) => parseIpAddress(text)!);

const rulesOf = (text: string): RuleColumns => {
  const [cidrs, origins, methods] = text.split('\n').map(listOf);
  return checkRules(
    { ...noRules, cidrs: cidrs ?? null, origins: origins ?? null, methods: methods ?? null },
    key,
  );
};

/** The normal form is stable and contains the same addresses. */
function checkRange(text: string): void {
  const normal = normalRange(text);
  if (normal === null) return;
  if (normalRange(normal) !== normal) throw new Error(`${normal} has another normal form`);
  const [written, stored] = [new CidrSet([text.trim()]), new CidrSet([normal])];
  if (probes.some((probe) => written.has(probe) !== stored.has(probe)))
    throw new Error(`${normal} contains other addresses than ${text}`);
}

export const keyRulesTarget: Target = {
  /** One line each of ranges, origins and methods, separated by commas. */
  seeds: texts([
    '192.0.2.0/24,2001:db8::/32,::ffff:10.0.0.1\nhttps://*.example.com,http://localhost:3000\nget*,sendTransaction',
    '0.0.0.0/0\nhttps://пример.example/,HTTPS://A.example:443\nwallet/*',
    '::/0,10.0.0.1/32\nhttps://[::1]:80\nSubscribe',
  ]),
  /** Rules are refused or round-trip, and requests can be checked against them. */
  fuzz(bytes: Uint8Array): boolean {
    const text = Buffer.from(bytes).toString();
    for (const part of text.split(/[\n,]/)) checkRange(part);
    return accepted(() => {
      const columns = rulesOf(text);
      const again = rulesOf([columns.cidrs, columns.origins, columns.methods].join('\n'));
      if (JSON.stringify(again) !== JSON.stringify(columns)) throw new Error('rules change in a round trip');
      const rules = {
        ...{ networks: null, cidrs: listOf(columns.cidrs), origins: listOf(columns.origins) },
        ...{ methods: listOf(columns.methods), logsBodies: false },
      };
      const client = { address: '10.0.0.1', ip: probes[1]!, origin: text.slice(0, 40) };
      const refusal = rejectionOf({ rules } as never, { client, network: null } as never);
      if (refusal !== null && !(refusal instanceof Failure)) throw new Error('refused with another value');
    }, ApiError);
  },
};

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

const unavailable = new ApiError(503, 'STORE_UNAVAILABLE', 'unavailable');
const store = new Proxy(
  {},
  {
    get: () => {
      throw unavailable;
    },
  },
);

let text = '';
let forwarded: string | null = null;
const library = {
  handler: async (request: Request) => {
    forwarded = request.method === 'GET' ? null : await request.text();
    return new Response(text, { headers: { location: text.replaceAll(/[^\x20-\x7e]/g, '') } });
  },
  api: { getSession: async () => null },
} as unknown as SignInLibrary;

const parts = {
  ...{ store, fallbackUrl: 'http://127.0.0.1:1' },
  options: { signUp: 'open', publicUrl: null, oidc: [], limits: accountLimits },
  ...{ mailReset: null, now: Date.now, log: { warn: () => {}, debug: () => {} } },
} as unknown as SignInParts;

function bodyIn(bytes: Uint8Array): Record<string, unknown> | null {
  const body = jsonIn(bytes) ?? null;
  return typeof body === 'object' && !Array.isArray(body) ? body : null;
}

export const signInTarget: Target = {
  /** The first byte selects the path; the rest is the body and the response of the library. */
  seeds: paths.flatMap((_, at) => bodies.map((body) => selecting(at, body))),
  /** A request is refused, or reaches the library as JSON with local redirects. */
  async fuzz(bytes: Uint8Array): Promise<boolean> {
    const [method = '', path = ''] = paths[(bytes[0] ?? 0) % paths.length]?.split(' ') ?? [];
    text = Buffer.from(bytes.subarray(1)).toString();
    forwarded = null;
    const headers = { 'x-solway': '1', host: '127.0.0.1:1', origin: 'http://127.0.0.1:1' };
    const request = new Request(`http://127.0.0.1:1/api/auth${path}`, { method, headers });
    // A new guard each time: failed attempts must not lock out later ones.
    const client = new AuthGuard(parts, () => library);
    const isTaken = await acceptedLater(async () => {
      const answer = await client.handle({
        request,
        address: '127.0.0.1',
        requestId: 'x',
        body: bodyIn(bytes.subarray(1)) ?? {},
      });
      if (answer.location !== null && !/^\/(?![/\\])/.test(answer.location))
        throw new Error('redirects to another site');
    }, ApiError);
    const sent = forwarded === null ? {} : (JSON.parse(forwarded) as Record<string, unknown>);
    for (const field of ['callbackURL', 'errorCallbackURL', 'redirectTo']) {
      if (sent[field] !== undefined && !/^\/(?![/\\])/.test(String(sent[field])))
        throw new Error(`${field} redirects to another site`);
    }
    return isTaken;
  },
};

const names = Object.keys(contract) as ContractName[];
const ADDRESS = 'http://127.0.0.1:9/';

const controlRequestBodies = [
  '{"name":"n","email":"a@b.example","role":"member","product":"rpc","plan":"default"}',
  '{"name":"n","product":"rpc","rules":{"cidrs":["192.0.2.0/24"],"origins":["https://a.example"],"methods":["get*"],"rate":{"perSecond":5,"burst":5}},"expiresAt":1700000000000}',
  '{"network":"devnet","name":"node","url":"https://a.example/key","headers":{"x":"y"},"requestsPerSecond":5}',
  '{"id":"p","limits":{"rpc_per_second":5,"prices":{"getBlock":2}},"enabled":true,"to":"https://a.example/hook"}',
];
const query = `cursor=${encodeCursor('abc')}&limit=10&from=1700000000000&to=1700000100000&status=ok&key=7hQ2mKpZ`;

async function requestIn(bytes: Uint8Array): Promise<RawRouteInput> {
  const rest = bytes.subarray(2);
  if ((bytes[1] ?? 0) % 2 === 0) {
    const text = Buffer.from(rest).toString('latin1');
    return { path: {}, query: readQuery(`${ADDRESS}?${text}`), body: undefined };
  }
  const headers = { 'content-type': 'application/json' };
  const request = new Request(ADDRESS, { method: 'POST', headers, body: Uint8Array.from(rest) });
  const arrived = await readBytes(request, { maxBytes: 4_096, timeoutMs: 60_000 });
  return {
    path: { id: Buffer.from(rest).toString('latin1', 0, 9) },
    query: {},
    body: readJson(request, arrived),
  };
}

function isAccepted(decode: () => unknown): boolean {
  try {
    decode();
    return true;
  } catch (thrown) {
    if (thrown instanceof ApiError) return false;
    throw thrown;
  }
}

function checkCursor(cursor: string): void {
  const sorted = encodeCursor('name', cursor.length, cursor.length);
  if (isAccepted(() => decodeSortedCursor(sorted, 'name', 'number'))) throw new Error('a number is no id');
  isAccepted(() => decodeSortedCursor(cursor, 'name', 'string'));
  const id = decodeCursor(cursor, 'string');
  if (id === null || decodeCursor(encodeCursor(id), 'string') !== id)
    throw new Error('a cursor changes in a round trip');
}

export const controlRequestTarget: Target = {
  /** The first byte selects the route, the second a query or a body. */
  seeds: [
    ...names.map((_, at) => selecting(at, `\0${query}`)),
    ...names.map((_, at) => selecting(at, `\x01${controlRequestBodies[at % controlRequestBodies.length]}`)),
  ],
  /** A request is refused, or parsed to input that parses to itself. */
  async fuzz(bytes: Uint8Array): Promise<boolean> {
    const name = names[(bytes[0] ?? 0) % names.length] as ContractName;
    try {
      const raw = await requestIn(bytes);
      if (typeof raw.query.cursor === 'string') checkCursor(raw.query.cursor);
      const given = parseRouteInput(name, raw);
      const again = parseRouteInput(name, {
        path: {},
        query: given.query ?? {},
        body: given.body ?? raw.body,
      });
      if (!isDeepStrictEqual([again.query, again.body], [given.query, given.body]))
        throw new Error(`${name} changes its parsed input`);
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) return false;
      throw error;
    }
  },
};

const SECRET = 'vErYsEcReT';
const example = `data_dir = "./data"
[server]
host = "127.0.0.1"
port = 8899
[networks]
default = "devnet"
[[upstream]]
network = "devnet"
url = "https://a.example/${SECRET}"
ws = "wss://a.example/"
headers = { authorization = "env:TOKEN" }
[[das]]
url = "https://das.example/"
[cache]
redis_url = "redis://:${SECRET}@127.0.0.1/"
[plans.default]
rpc_per_second = 50
`;

const config = join(scratchFolder('configuration'), 'solway.toml');
const variables = ['SOLWAY_DATA_DIR', 'SOLWAY_HOST', 'SOLWAY_PORT', 'SOLWAY_GRPC_PORT', 'SOLWAY_NETWORK'];
const more = ['SOLWAY_LOG_LEVEL', 'SOLWAY_LOG_FILE', 'DATABASE_URL', 'REDIS_URL'];

function environmentIn(text: string): Record<string, string> {
  const values = text.split('\n');
  const named = [...variables, ...more].map((name, at): [string, string] => [name, values[at] ?? '']);
  return Object.fromEntries([...named, ['TOKEN', SECRET]]);
}

/** A URL; providers put keys into user info, path and query. */
const PARTS = /:\/\/(?:[^\s"'/?#]*@)?([^\s"'/?#]*)(?:[/?#][^\s"']*)?/g;

/** Whether the secret occurs only in these parts; hosts, folders and plans may be shown. */
const isHidden = (text: string): boolean => !text.replaceAll(PARTS, '$1').includes(SECRET);

export const configurationTarget: Target = {
  /** TOML files; after the byte 0xff, values of environment variables, one per line. */
  seeds: [
    Buffer.from(example),
    Buffer.from('[[upstream]]\nurl = 5\n[server]\nport = "x"\nnone = 1979-05-27T07:32:00Z\n'),
    Buffer.from('[grpc]\nport = 0\n[shreds]\nenabled = true\n[[shreds.entries]]\nurl = "http://a.example"\n'),
    Buffer.from(
      '[server.tls]\ncert_file = "a"\nkey_file = "b"\n[rest]\nenabled = true\n[off_chain]\nipfs_gateways = ["https://a.example/"]\nallow_networks = ["10.0.0.0/8"]\n[accounts]\npublic_url = "http://x"\n',
    ),
    selecting(0xff, 'data\n127.0.0.1\n8899\n10000\ndevnet\ninfo\n\npostgres://x/y\nredis://x/'),
  ],
  /** The configuration is valid, or the problems are listed without secret values. */
  fuzz(bytes: Uint8Array): boolean {
    const isEnvironment = bytes[0] === 0xff;
    const text = Buffer.from(bytes.subarray(isEnvironment ? 1 : 0)).toString();
    // Such values name files to read.
    if (text.includes('file:')) return false;
    writeFileSync(config, isEnvironment ? example : text);
    try {
      loadConfiguration({ config, upstreams: [] }, environmentIn(isEnvironment ? text : ''));
      return true;
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      if (error.problems.length === 0) throw new Error('refused without a problem');
      if (isHidden(text) && error.problems.some(({ message }) => message.includes(SECRET)))
        throw new Error('shows a secret');
      return false;
    }
  },
};

const row: StoredUsage = {
  ...{ minute: 29_000_000, keyId: '7hQ2mKpZ', product: 'rpc', method: 'getSlot', status: 'ok' },
  ...{
    network: 'devnet',
    code: '',
    requests: 3,
    bytesIn: 210,
    bytesOut: 96,
    credits: 3,
    messages: 0,
    latency: '12:2,13:1',
  },
};
const line = journalLine(row);
const plain = Buffer.from(line.slice(9) + journalLine({ ...row, product: 'grpc' }).slice(9));

const file = join(scratchFolder('usage-journal'), 'journal.jsonl');

const checked = (text: string): string =>
  text
    .split('\n')
    .map((each) => `${crc32(each).toString(16).padStart(8, '0')} ${each}\n`)
    .join('');

async function rowsIn(text: string): Promise<StoredUsage[]> {
  writeFileSync(file, text);
  const damage: JournalCorruption = { lines: 0 };
  const rows: StoredUsage[] = [];
  // One line per batch.
  for await (const batch of readJournal(file, 1, damage)) rows.push(...batch);
  return rows;
}

export const usageJournalTarget: Target = {
  /** Journals; after the byte 0xff, rows without checksums. */
  seeds: [
    ...texts([
      line + journalLine({ ...row, keyId: null, method: 'é' }) + line.slice(0, 40),
      `${line}torn\n${line}`,
    ]),
    Buffer.of(0xff, ...plain),
  ],
  /** Rows round-trip, and a cut journal yields the rows before the cut. */
  async fuzz(bytes: Uint8Array): Promise<boolean> {
    const given = Buffer.from(bytes[0] === 0xff ? bytes.subarray(1) : bytes).toString();
    const text = bytes[0] === 0xff ? checked(given) : given;
    const rows = await rowsIn(text);
    for (const each of rows) {
      const again = readJournalLine(journalLine(each).slice(0, -1));
      if (JSON.stringify(again) !== JSON.stringify(each)) throw new Error('a row changes in a round trip');
    }
    const torn = await rowsIn(text.slice(0, text.length >> 1));
    if (torn.some((each, at) => JSON.stringify(each) !== JSON.stringify(rows[at])))
      throw new Error('a cut journal yields other rows');
    return rows.length > 0;
  },
};

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
const REPORT = Buffer.from('[{"token":"a","type":"solway_key"}]');
const signature = sign('sha256', REPORT, privateKey).toString('base64');
const isSigned = reportVerifier([{ id: 'k', pem }]);

export const leakReportTarget: Target = {
  seeds: [Buffer.from(signature), Buffer.from(pem), REPORT],
  /** Only the valid signature of the same bytes is accepted. @returns whether it is a key. */
  fuzz(bytes: Uint8Array): boolean {
    const text = Buffer.from(bytes).toString('latin1');
    const isRight = Buffer.from(text, 'base64').equals(Buffer.from(signature, 'base64'));
    if (isSigned(REPORT, 'k', text) && !isRight) throw new Error('accepted another signature');
    if (isSigned(bytes, 'k', signature) !== REPORT.equals(bytes)) throw new Error('accepted another report');
    return readScannerKey(text) !== null;
  },
};

const [table] = backupTables;
const lines = [
  '{"format":"solway-backup","version":1,"schema":7,"at":1700000000000}',
  `{"rows":"${table?.name}","columns":["a","b","c"],"values":[["x",5,null],["\\u2028",-1,null]]}`,
  `{"table":"${table?.name}","count":2,"digest":"${'0'.repeat(64)}"}`,
  '{"end":true}',
];
const content = Buffer.from(lines.join('\n'));

const backupPath = join(scratchFolder('backup-file'), 'backup.gz');

export const backupFileTarget: Target = {
  /** Lines to compress; after the byte 0xff, a file. */
  seeds: [content, ...texts(lines), Buffer.of(0xff, ...gzipSync(content))],
  /** A backup is read, or refused as damaged. @returns whether it was read to its end. */
  fuzz(bytes: Uint8Array): Promise<boolean> {
    writeFileSync(backupPath, bytes[0] === 0xff ? bytes.subarray(1) : gzipSync(bytes, { level: 0 }));
    return acceptedLater(async () => {
      for await (const part of readBackupFile(backupPath)) {
        if (part.kind !== 'rows') continue;
        if (part.rows.some((row) => Object.values(row).some((value) => typeof value === 'object' && value)))
          throw new Error('a value of a row is an object');
      }
    }, BackupError);
  },
};
