import { Refused, type Tally, WrongAnswer } from '../figures/tally.ts';
import type { FundedWallet } from './funded-wallets.ts';

/** A JSON-RPC call and the check of its response. */
export type RpcCallCheck = Readonly<{
  method: string;
  params: readonly unknown[];
  /** Checks the result. */
  isTrue: (result: never) => boolean;
  /** The expected error code. */
  refusedWith?: number;
}>;

/** A JSON-RPC response. */
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
const INVALID_PARAMS = -32602;
const METHOD_NOT_FOUND = -32601;

const refused = (method: string, params: readonly unknown[], refusedWith: number): RpcCallCheck => ({
  ...{ method, params, refusedWith, isTrue: () => false },
});

/** Calls about one wallet at one commitment. */
function walletCalls(
  { address, lamports, signature, slot }: FundedWallet,
  commitment: (typeof levels)[number],
): RpcCallCheck[] {
  const settled = commitment === 'processed' ? 'confirmed' : commitment;
  const isAccount = ({ lamports: has, owner }: Account): boolean => has === lamports && owner === SYSTEM;
  return [
    {
      method: 'getBalance',
      params: [address, { commitment }],
      isTrue: ({ value, context }: Valued<number>) => value === lamports && context.slot >= slot,
    },
    {
      method: 'getAccountInfo',
      params: [address, { commitment, encoding: 'base64' }],
      isTrue: ({ value }: Valued<Account>) => isAccount(value),
    },
    {
      method: 'getSlot',
      params: [{ commitment }],
      isTrue: (result: number) => result >= slot,
    },
    {
      method: 'getLatestBlockhash',
      params: [{ commitment }],
      isTrue: ({ value }: Valued<{ blockhash: string; lastValidBlockHeight: number }>) =>
        value.blockhash.length >= 32 && value.lastValidBlockHeight > slot,
    },
    {
      method: 'getTransaction',
      params: [signature, { commitment: settled, maxSupportedTransactionVersion: 0 }],
      isTrue: (result: { slot: number; transaction: { signatures: readonly string[] } }) =>
        result.slot === slot && result.transaction.signatures[0] === signature,
    },
    {
      method: 'getSignaturesForAddress',
      params: [address, { commitment: settled }],
      isTrue: (result: readonly { signature: string }[]) =>
        result.length === 1 && result[0]?.signature === signature,
    },
    {
      method: 'getSignatureStatuses',
      params: [[signature], { searchTransactionHistory: true }],
      isTrue: ({ value: [status] }: Valued<readonly { slot: number; confirmationStatus: string }[]>) =>
        status?.slot === slot && status.confirmationStatus === 'finalized',
    },
    {
      method: 'getBlock',
      params: [
        slot,
        {
          commitment: settled,
          transactionDetails: 'signatures',
          rewards: false,
          maxSupportedTransactionVersion: 0,
        },
      ],
      isTrue: (result: { signatures: readonly string[] }) => result.signatures.includes(signature),
    },
    {
      method: 'getTokenAccountsByOwner',
      params: [address, { programId: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' }, { commitment }],
      isTrue: ({ value }: Valued<readonly unknown[]>) => value.length === 0,
    },
  ];
}

/** All calls, which are sent in turn. */
export function rpcCallChecks(wallets: readonly FundedWallet[]): RpcCallCheck[] {
  const addresses = wallets.map(({ address }) => address);
  return [
    ...wallets.flatMap((wallet, at) => walletCalls(wallet, levels[at % levels.length] ?? 'finalized')),
    {
      method: 'getMultipleAccounts',
      params: [addresses, { encoding: 'base64' }],
      isTrue: ({ value }: Valued<readonly Account[]>) =>
        wallets.every(({ lamports }, at) => value[at]?.lamports === lamports),
    },
    refused('getBalance', ['no address'], INVALID_PARAMS),
    refused('getNothingAtAll', [], METHOD_NOT_FOUND),
  ];
}

/** Name of an error of the gateway, or number of a node's. */
const codeOf = ({ code, data }: NonNullable<RpcReply['error']>): string => data?.code ?? String(code);

const isWellFormed = ({ jsonrpc, id, result, error }: RpcReply, requested: unknown): boolean =>
  jsonrpc === '2.0' && id === requested && (result === undefined) !== (error === undefined);

/** Whether a result is right; one of another shape is not. */
function isHeld({ isTrue }: RpcCallCheck, result: unknown): boolean {
  try {
    return isTrue(result as never);
  } catch {
    return false;
  }
}

/** @throws Refused for an unexpected error; WrongAnswer for a wrong result or id. */
export function checkRpc(question: RpcCallCheck, answer: RpcReply, requested: unknown, tally: Tally): void {
  const { method, refusedWith } = question;
  const { result, error } = answer;
  const wrong = (): WrongAnswer =>
    new WrongAnswer(`${method} with the id ${requested} got ${JSON.stringify(answer)}`);
  if (!isWellFormed(answer, requested)) throw wrong();
  if (error !== undefined) {
    if (error.code !== refusedWith) throw new Refused(codeOf(error));
    tally.refusedRightly(codeOf(error));
    return;
  }
  if (refusedWith !== undefined || !isHeld(question, result)) throw wrong();
}
