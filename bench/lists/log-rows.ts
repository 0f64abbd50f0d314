import { firstIdAt } from '../../src/control/requests/entry-ids.ts';
import type { NewLogRow } from '../../src/control/requests/log-store.ts';
import { type FailureCode, failures } from '../../src/protocol/errors.ts';
import type { Population } from './population.ts';
import { base58, below, oneOf, type Random, randomFrom, skewed } from './random.ts';

export const DAY_MS = 86_400_000;
export const DAYS = 30;

/** Share of the entries of the built-in customer. */
const DEFAULT_CUSTOMER_SHARE = 0.2;
const FAILED_SHARE = 0.05;
const ADDRESSES = 50_000;

/** From the most to the least frequent. */
export const loggedMethods = [
  ...['getAccountInfo', 'getLatestBlockhash', 'getMultipleAccounts', 'getSignatureStatuses', 'getBalance'],
  ...['sendTransaction', 'getTransaction', 'getTokenAccountsByOwner', 'getSlot', 'simulateTransaction'],
  ...['getProgramAccounts', 'getSignaturesForAddress', 'getBlock', 'getTokenAccountBalance', 'getEpochInfo'],
  ...['getMinimumBalanceForRentExemption', 'getBlockHeight', 'getRecentPrioritizationFees', 'getHealth'],
  ...['getTokenSupply', 'isBlockhashValid', 'getVoteAccounts', 'getClusterNodes', 'getSupply'],
] as const;

const signed = new Set<string>(['sendTransaction', 'simulateTransaction', 'getTransaction']);

const addresses = ((random: Random): readonly string[] =>
  Array.from({ length: ADDRESSES }, (_, at) =>
    at % 10 === 9
      ? `2001:db8:${below(random, 65_536).toString(16)}:${below(random, 65_536).toString(16)}::${(at + 1).toString(16)}`
      : [1 + below(random, 223), ...Array.from({ length: 3 }, () => below(random, 256))].join('.'),
  ))(randomFrom(2));

export const frequentAddress = addresses[0]!;
/** A valid address that no entry has. */
export const absentAddress = '203.0.113.255';

/** A word of the rarest message. */
export const RARE_WORD = 'superminority';
const RARE_SHARE = 1 / 200_000;

type Outcome = Pick<NewLogRow, 'status' | 'http' | 'rpc_code' | 'failure' | 'message'>;

const success: Outcome = { status: 'ok', http: 200, rpc_code: 0, failure: null, message: null };

const nodeError = (rpc_code: number, message: string): Outcome => ({
  ...{ status: 'rpcError', http: 200, failure: null },
  rpc_code,
  message,
});

function failureOf(code: FailureCode, status: Outcome['status']): Outcome {
  const { http, rpc, text } = failures[code];
  return { status, http, rpc_code: rpc, failure: code, message: text };
}

const limited = failureOf('RATE_LIMITED', 'limited');
const invalidKey = failureOf('INVALID_KEY', 'client');
const timeout = failureOf('UPSTREAM_TIMEOUT', 'upstream');
const overloaded = failureOf('OVERLOADED', 'capacity');
const invalidParameter = nodeError(-32602, 'Invalid param: WrongSize');
const blockhash = nodeError(-32002, 'Transaction simulation failed: Blockhash not found');

function outcomeOf(random: Random): Outcome {
  const draw = random();
  if (draw >= FAILED_SHARE) return success;
  if (draw < RARE_SHARE) return nodeError(-32005, `Node is behind the ${RARE_WORD} by 150 slots`);
  const kind = draw / FAILED_SHARE;
  if (kind < 0.4) return limited;
  if (kind < 0.6) return invalidParameter;
  if (kind < 0.75) return blockhash;
  if (kind < 0.85)
    return nodeError(
      -32002,
      `Error processing Instruction ${below(random, 8)}: custom program error: 0x${below(random, 8_000).toString(16)}`,
    );
  if (kind < 0.9) return nodeError(-32007, `Slot ${301_000_000 + below(random, 9_000_000)} was skipped`);
  if (kind < 0.95) return timeout;
  return kind < 0.98 ? invalidKey : overloaded;
}

const steps = (ms: number): string =>
  JSON.stringify([
    { name: 'authenticate', node: null, startMs: 0, endMs: 0.1, outcome: 'ok' },
    { name: 'upstream', node: 'node-1', startMs: 0.2, endMs: ms, outcome: 'ok' },
  ]);

/** Entries of `DAYS` days before `untilMs`, oldest first, in batches. */
export function* logRows(
  { customerIds, keyIds }: Population,
  total: number,
  untilMs: number,
  batchRows: number,
): Generator<NewLogRow[]> {
  const random = randomFrom(3);
  const from = untilMs - DAYS * DAY_MS;
  let batch: NewLogRow[] = [];
  for (let nth = 0; nth < total; nth++) {
    const at = from + Math.floor((nth * DAYS * DAY_MS) / total);
    const customer = random() < DEFAULT_CUSTOMER_SHARE ? 0 : skewed(random, customerIds.length);
    const outcome = outcomeOf(random);
    const keys = keyIds[customer]!;
    const hasKey = outcome !== invalidKey && keys.length > 0;
    const method = loggedMethods[skewed(random, loggedMethods.length)]!;
    const micros = Math.round(150 * 60 ** (random() * random() * 2));
    const isUpstream = outcome.status === 'ok' || outcome.status === 'rpcError';
    batch.push({
      ...outcome,
      id: `${firstIdAt(at)}${nth.toString(16).padStart(8, '0')}0badcafe`,
      at,
      gateway: `gateway-${nth % 3}`,
      customer_id: hasKey ? customerIds[customer]! : customerIds[0]!,
      key_id: hasKey ? keys[skewed(random, keys.length)]! : null,
      product: random() < 0.02 ? 'grpc' : 'rpc',
      network: 'mainnet-beta',
      method,
      signature: signed.has(method) && isUpstream ? base58(random, 87) : null,
      micros,
      bytes_in: 120 + below(random, 200),
      bytes_out: 90 + below(random, 4_000),
      node: isUpstream ? oneOf(random, ['node-1', 'node-2', 'node-3']) : null,
      address: addresses[skewed(random, ADDRESSES)]!,
      origin: null,
      steps: steps(micros / 1_000),
      params: null,
      result: null,
    });
    if (batch.length < batchRows && nth < total - 1) continue;
    yield batch;
    batch = [];
  }
}
