import { type GrpcCall, grpcCalls } from '../../../protocol/grpc/calls.ts';
import { methods } from '../../../protocol/methods.ts';
import { subscriptions } from '../../../protocol/subscriptions.ts';
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

const subscriptionExamples: Readonly<Record<keyof typeof subscriptions, readonly unknown[]>> = {
  account: ['SysvarC1ock11111111111111111111111111111111', { encoding: 'base64', commitment: 'confirmed' }],
  block: ['all', { commitment: 'confirmed', transactionDetails: 'signatures', showRewards: false }],
  logs: ['all', { commitment: 'confirmed' }],
  program: [TOKEN_PROGRAM, { encoding: 'base64', commitment: 'confirmed' }],
  root: [],
  signature: [SIGNATURE, { commitment: 'confirmed' }],
  slot: [],
  slotsUpdates: [],
  transaction: [{ vote: true }, { commitment: 'confirmed', transactionDetails: 'signatures' }],
  vote: [],
};

const subscriptionMethods = Object.entries(subscriptions).map(([kind, { subscribe, credits }]) => ({
  name: subscribe,
  kind: 'websocket' as const,
  credits,
  example: JSON.stringify(subscriptionExamples[kind as keyof typeof subscriptions]),
  path: null,
}));

const streamExamples = {
  Subscribe: { slots: { all: {} } },
  SubscribeDeshred: { deshredTransactions: { all: {} } },
} as const satisfies Partial<Record<GrpcCall, object>>;

/** Streams that pages can open; see servers/grpc/http-streams.ts. */
const streamMethods = Object.entries(streamExamples).map(([name, example]) => ({
  name,
  kind: 'grpc' as const,
  credits: grpcCalls[name as keyof typeof streamExamples],
  example: JSON.stringify(example),
  path: `/v1/grpc/geyser.Geyser/${name}`,
}));

export const catalogHandlers = (services: ApiServices) =>
  defineHandlers({
    'GET /methods': async () => ({
      methods: [
        ...rpcMethods,
        ...subscriptionMethods,
        ...(services.service().urls.grpc === null ? [] : streamMethods),
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
