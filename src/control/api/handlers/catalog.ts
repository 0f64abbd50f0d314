import { methods } from '../../../protocol/methods.ts';
import { ApiError } from '../api-error.ts';
import { defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';

/** Accounts that exist on every ledger. */
const ADDRESS = '11111111111111111111111111111111';
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const SIGNATURE = '1111111111111111111111111111111111111111111111111111111111111111';

/** Example parameters; absent for methods without required parameters. */
const examples: Readonly<Partial<Record<keyof typeof methods, readonly unknown[]>>> = {
  getAccountInfo: [ADDRESS, { encoding: 'base64' }],
  getBalance: [ADDRESS],
  getBlock: [
    0,
    { encoding: 'json', maxSupportedTransactionVersion: 0, transactionDetails: 'signatures', rewards: false },
  ],
  getBlockCommitment: [0],
  getBlockTime: [0],
  getBlocks: [0, 10],
  getBlocksWithLimit: [0, 10],
  getFeeForMessage: [
    'AQABAgIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
  ],
  getInflationReward: [[ADDRESS]],
  getMinimumBalanceForRentExemption: [165],
  getMultipleAccounts: [[ADDRESS, TOKEN_PROGRAM], { encoding: 'base64' }],
  getProgramAccounts: [TOKEN_PROGRAM, { encoding: 'base64', filters: [{ dataSize: 82 }] }],
  getRecentPerformanceSamples: [4],
  getSignatureStatuses: [[SIGNATURE], { searchTransactionHistory: true }],
  getSignaturesForAddress: [ADDRESS, { limit: 10 }],
  getSlotLeaders: [0, 10],
  getTokenAccountBalance: [ADDRESS],
  getTokenAccountsByDelegate: [ADDRESS, { programId: TOKEN_PROGRAM }, { encoding: 'jsonParsed' }],
  getTokenAccountsByOwner: [ADDRESS, { programId: TOKEN_PROGRAM }, { encoding: 'jsonParsed' }],
  getTokenLargestAccounts: [ADDRESS],
  getTokenSupply: [ADDRESS],
  getTransaction: [SIGNATURE, { encoding: 'json', maxSupportedTransactionVersion: 0 }],
  getTransactionsForAddress: [ADDRESS, { limit: 10 }],
  isBlockhashValid: [ADDRESS],
  requestAirdrop: ['83astBRguLMdt2h5U1Tpdq5tjFoJ6noeGwaY3mDLVcri', 1_000_000_000],
  sendTransaction: ['<a signed transaction in base64>', { encoding: 'base64' }],
  simulateTransaction: ['<a transaction in base64>', { encoding: 'base64', sigVerify: false }],
};

const rpcMethods = Object.entries(methods).map(([name, { credits }]) => ({
  name,
  kind: 'rpc' as const,
  credits,
  example: JSON.stringify(examples[name as keyof typeof methods] ?? []),
  path: null,
}));

export const catalogHandlers = (services: ApiServices) =>
  defineHandlers({
    'GET /methods': async () => ({
      methods: [
        ...rpcMethods,
        ...services.endpoints.map((endpoint) => ({ kind: 'rest' as const, ...endpoint })),
      ],
    }),
    'GET /settings': async () => ({
      configuration: { ...services.configuration() },
      file: services.configurationFile,
    }),
    async 'POST /reload'(_given, { actor, address, userAgent, requestId }) {
      const { reload } = services;
      if (reload === undefined)
        throw new ApiError(
          503,
          'NO_GATEWAY',
          'No gateway is running here whose configuration could be reloaded',
        );
      const { changed, restart } = await reload({ actor, address, userAgent, requestId });
      return { changed: [...changed], restart: [...restart] };
    },
  });
