import type { FundedWallet } from './funded-wallets.ts';

/** A REST request and the check of its response. */
export type RestCall = Readonly<{
  path: string;
  query: Readonly<Record<string, string>>;
  /** Checks the result. */
  isTrue: (result: never) => boolean;
  /** The expected error. */
  refusedWith?: Readonly<{ status: number; code: string }>;
}>;

/** Envelope of all REST responses. */
export type Envelope = Readonly<{
  success: unknown;
  message: unknown;
  result?: unknown;
  error?: Readonly<{ code: string; message: string }>;
}>;

const LAMPORTS_PER_SOL = 1_000_000_000;
/** Unknown signature. */
const NO_TRANSACTION = '1'.repeat(64);

const isEmpty = (result: readonly unknown[]): boolean => result.length === 0;

const refused = (path: string, query: RestCall['query'], status: number, code: string): RestCall => ({
  path,
  query,
  refusedWith: { status, code },
  isTrue: () => false,
});

type Parsed = Readonly<{ signatures: readonly string[]; status: string }>;

/** Requests about one wallet. */
function walletCalls({ address, lamports, signature }: FundedWallet): RestCall[] {
  const sol = lamports / LAMPORTS_PER_SOL;
  const isAirdrop = ({ signatures, status }: Parsed): boolean =>
    signatures[0] === signature && status === 'Success';
  return [
    {
      path: '/sol/v1/wallet/balance',
      query: { wallet: address },
      isTrue: ({ balance }: { balance: number }) => balance === sol,
    },
    {
      path: '/sol/v1/wallet/get_portfolio',
      query: { wallet: address },
      isTrue: (result: { sol_balance: number; num_tokens: number; num_nfts: number }) =>
        result.sol_balance === sol && result.num_tokens === 0 && result.num_nfts === 0,
    },
    { path: '/sol/v1/wallet/all_tokens', query: { wallet: address }, isTrue: isEmpty },
    { path: '/sol/v1/wallet/get_domains', query: { wallet: address }, isTrue: isEmpty },
    {
      path: '/sol/v2/nft/read_all',
      query: { address },
      isTrue: ({ nfts }: { nfts: readonly unknown[] }) => nfts.length === 0,
    },
    {
      path: '/sol/v1/transaction/parsed',
      query: { txn_signature: signature },
      isTrue: isAirdrop,
    },
    {
      path: '/sol/v1/transaction/history',
      query: { account: address },
      isTrue: (result: readonly Parsed[]) => result.length === 1 && result.every(isAirdrop),
    },
  ];
}

/** All requests, which are sent in turn. */
export function restCalls(wallets: readonly FundedWallet[]): RestCall[] {
  const [{ address } = { address: '' }] = wallets;
  return [
    ...wallets.flatMap(walletCalls),
    refused('/sol/v1/wallet/balance', { wallet: 'no address' }, 400, 'INVALID_FIELDS'),
    refused('/sol/v1/transaction/parsed', { txn_signature: NO_TRANSACTION }, 404, 'TRANSACTION_NOT_FOUND'),
    refused('/sol/v1/token/get_info', { token_address: address }, 400, 'NOT_A_MINT'),
  ];
}
