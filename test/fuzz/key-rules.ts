import { CidrSet, parseIpAddress } from '../../src/base/ip-address.ts';
import { KeyRefusedError } from '../../src/control/keys/key-register.ts';
import { checkRules, noRules, normalRange, type RuleColumns } from '../../src/control/keys/rule-columns.ts';
import { refusalOf } from '../../src/gateway/auth/key-rules.ts';
import { Failure } from '../../src/protocol/errors.ts';

export const from = 'clients of the control API';
export const covers = ['gateway/auth/key-rules.ts', 'base/ip-address.ts', 'control/keys/'];

/** Ranges, origins and methods, a line each with commas between them. */
export const seeds: readonly Uint8Array[] = [
  '192.0.2.0/24,2001:db8::/32,::ffff:10.0.0.1\nhttps://*.example.com,http://localhost:3000\nget*,sendTransaction',
  '0.0.0.0/0\nhttps://пример.example/,HTTPS://A.example:443\nwallet/*',
  '::/0,10.0.0.1/32\nhttps://[::1]:80\nSubscribe',
].map((text) => Buffer.from(text));

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

/** The one form of a range is its own, and holds the same addresses. */
function checkRange(text: string): void {
  const normal = normalRange(text);
  if (normal === null) return;
  if (normalRange(normal) !== normal) throw new Error(`${normal} has another form still`);
  const [written, stored] = [new CidrSet([text.trim()]), new CidrSet([normal])];
  if (probes.some((probe) => written.has(probe) !== stored.has(probe)))
    throw new Error(`${normal} holds other addresses than ${text}`);
}

/** Rules are refused or kept in a form that is read as the same rules, and a request can be held against them. */
export function fuzz(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString();
  for (const part of text.split(/[\n,]/)) checkRange(part);
  try {
    const columns = rulesOf(text);
    const again = rulesOf([columns.cidrs, columns.origins, columns.methods].join('\n'));
    if (JSON.stringify(again) !== JSON.stringify(columns)) throw new Error('rules change when they are read');
    const rules = {
      ...{ networks: null, cidrs: listOf(columns.cidrs), origins: listOf(columns.origins) },
      ...{ methods: listOf(columns.methods), logsBodies: false },
    };
    const client = { address: '10.0.0.1', ip: probes[1]!, origin: text.slice(0, 40) };
    const refusal = refusalOf({ rules } as never, { client, network: null } as never);
    if (refusal !== null && !(refusal instanceof Failure)) throw new Error('refused with something else');
    return true;
  } catch (error) {
    if (error instanceof KeyRefusedError) return false;
    throw error;
  }
}
