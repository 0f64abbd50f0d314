import { Refused, Tally, WrongAnswer } from '../tally.ts';
import type { FundedWallet } from './funded-wallets.ts';
import { type Check, checkAnswer, measuredLoad, openHttp, type Surface } from './surface.ts';

export type RpcCheck = Check<number> & Readonly<{ method: string; params: readonly unknown[] }>;

export type RpcReply = Readonly<{
  jsonrpc?: unknown;
  id?: unknown;
  result?: unknown;
  error?: Readonly<{ code: number; message: string; data?: Readonly<{ code?: string }> }>;
}>;

type Valued<Value> = Readonly<{ context: Readonly<{ slot: number }>; value: Value }>;
type Account = Readonly<{ lamports: number; owner: string }>;

const levels = ['processed', 'confirmed', 'finalized'] as const;
const SYSTEM = '11111111111111111111111111111111';
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const INVALID_PARAMS = -32602;
const METHOD_NOT_FOUND = -32601;
const BATCH_EACH = 10;
const BATCH_CALLS = 5;

const right = <Result>(
  method: string,
  params: readonly unknown[],
  isTrue: (result: Result) => boolean,
): RpcCheck => ({ method, params, isTrue });

const refused = (method: string, params: readonly unknown[], refusedWith: number): RpcCheck => ({
  ...{ method, params, refusedWith, isTrue: () => false },
});

function walletCalls(
  { address, lamports, signature, slot }: FundedWallet,
  commitment: (typeof levels)[number],
): RpcCheck[] {
  const at = { commitment };
  const settled = { commitment: commitment === 'processed' ? 'confirmed' : commitment };
  const version = { ...settled, maxSupportedTransactionVersion: 0 };
  const signaturesOnly = { ...version, transactionDetails: 'signatures', rewards: false };
  type Transaction = { slot: number; transaction: { signatures: readonly string[] } };
  type Statuses = Valued<readonly { slot: number; confirmationStatus: string }[]>;
  return [
    right('getBalance', [address, at], ({ value, context }: Valued<number>) => {
      return value === lamports && context.slot >= slot;
    }),
    right('getAccountInfo', [address, { ...at, encoding: 'base64' }], ({ value }: Valued<Account>) => {
      return value.lamports === lamports && value.owner === SYSTEM;
    }),
    right('getSlot', [at], (result: number) => result >= slot),
    right(
      'getLatestBlockhash',
      [at],
      ({ value }: Valued<{ blockhash: string; lastValidBlockHeight: number }>) =>
        value.blockhash.length >= 32 && value.lastValidBlockHeight > slot,
    ),
    right('getTransaction', [signature, version], (result: Transaction) => {
      return result.slot === slot && result.transaction.signatures[0] === signature;
    }),
    right('getSignaturesForAddress', [address, settled], (result: readonly { signature: string }[]) => {
      return result.length === 1 && result[0]?.signature === signature;
    }),
    right('getSignatureStatuses', [[signature], { searchTransactionHistory: true }], (result: Statuses) => {
      const [status] = result.value;
      return status?.slot === slot && status.confirmationStatus === 'finalized';
    }),
    right('getBlock', [slot, signaturesOnly], ({ signatures }: { signatures: readonly string[] }) =>
      signatures.includes(signature),
    ),
    right(
      'getTokenAccountsByOwner',
      [address, { programId: TOKEN }, at],
      ({ value }: Valued<readonly unknown[]>) => value.length === 0,
    ),
  ];
}

export function rpcChecks(wallets: readonly FundedWallet[]): RpcCheck[] {
  const addresses = wallets.map(({ address }) => address);
  return [
    ...wallets.flatMap((wallet, at) => walletCalls(wallet, levels[at % levels.length] ?? 'finalized')),
    right('getMultipleAccounts', [addresses, { encoding: 'base64' }], ({ value }: Valued<Account[]>) =>
      wallets.every(({ lamports }, at) => value[at]?.lamports === lamports),
    ),
    refused('getBalance', ['no address'], INVALID_PARAMS),
    refused('getNothingAtAll', [], METHOD_NOT_FOUND),
  ];
}

/** @throws Refused for an unexpected error; WrongAnswer for a wrong result or id. */
export function checkRpc(call: RpcCheck, answer: RpcReply, requested: unknown, tally: Tally): void {
  const { jsonrpc, id, result, error } = answer;
  const what = `${call.method} with the id ${requested} got ${JSON.stringify(answer)}`;
  if (jsonrpc !== '2.0' || id !== requested || (result === undefined) === (error === undefined))
    throw new WrongAnswer(what);
  // The name of a gateway error, or the code of a node's error.
  const named = error && { code: error.code, name: error.data?.code ?? String(error.code) };
  checkAnswer(call, { result, error: named ?? null }, what, tally);
}

export function jsonRpcSurface(
  url: string,
  key: string,
  wallets: readonly FundedWallet[],
  perSecond: number,
): Surface {
  const tally = new Tally('JSON-RPC over HTTP', 'answers');
  const http = openHttp();
  const checks = rpcChecks(wallets);
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  let calls = 0;
  let requests = 0;

  /** The next call, with a number or a string as id. */
  const next = () => {
    const number = calls++;
    const check = checks[number % checks.length]!;
    const id = number % 2 === 0 ? number : `call "${number}"`;
    return { check, id, call: { jsonrpc: '2.0', id, method: check.method, params: check.params } };
  };
  const send = async (): Promise<void> => {
    const isBatch = ++requests % BATCH_EACH === 0;
    const requested = Array.from({ length: isBatch ? BATCH_CALLS : 1 }, next);
    const body = isBatch ? requested.map(({ call }) => call) : requested[0]!.call;
    const { status, text } = await http.send(url, { method: 'POST', headers, body: JSON.stringify(body) });
    if (status !== 200) throw new Refused(`HTTP ${status}`);
    const answers = isBatch ? (JSON.parse(text) as RpcReply[]) : [JSON.parse(text) as RpcReply];
    if (!Array.isArray(answers) || answers.length !== requested.length)
      throw new WrongAnswer(`a batch of ${BATCH_CALLS} got ${text}`);
    for (const [at, { check, id }] of requested.entries()) checkRpc(check, answers[at]!, id, tally);
  };
  return { tallies: [tally], load: measuredLoad(tally, perSecond, send), close: http.close };
}
