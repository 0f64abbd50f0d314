import { encodeBase58 } from '../../../src/solana/base58.ts';
import { type Behaviour, type Received, send } from './server.ts';

/** What a chain says of transactions; a test changes it as it goes. */
export type MockChain = {
  /** Raw JSON of the status of a signature. */
  status: (signature: string) => string;
  blockHeight: number;
  isBlockhashValid: boolean;
};

/** Knows no transaction, and its blockhashes last. */
export const freshChain = (): MockChain => ({
  status: () => 'null',
  blockHeight: 900,
  isBlockhashValid: true,
});

/** Raw JSON of the status of one that landed. */
export const landed = (confirmationStatus: string, err = 'null'): string =>
  `{"slot":1001,"confirmations":1,"err":${err},"confirmationStatus":"${confirmationStatus}"}`;

/** The transaction that a node was sent. */
export function sentTo({ raw }: Received): { wire: Buffer; config: Record<string, unknown> } {
  const { params } = JSON.parse(raw) as { params: [string, Record<string, unknown>] };
  return { wire: Buffer.from(params[0], 'base64'), config: params[1] };
}

const context = (value: string): string => `{"context":{"slot":1000},"value":${value}}`;

function answerOf(request: Received, chain: MockChain): string {
  switch (request.method) {
    case 'sendTransaction':
      return `"${encodeBase58(sentTo(request).wire.subarray(1, 65))}"`;
    case 'getSignatureStatuses': {
      const { params } = JSON.parse(request.raw) as { params: [string[]] };
      return context(`[${params[0].map((signature) => chain.status(signature)).join()}]`);
    }
    case 'getEpochInfo':
      return `{"absoluteSlot":1000,"blockHeight":${chain.blockHeight}}`;
    case 'isBlockhashValid':
      return context(String(chain.isBlockhashValid));
    default:
      return '1000';
  }
}

/** Takes every transaction, and says of it what the chain does. */
export const accepting =
  (chain: MockChain = freshChain()): Behaviour =>
  (request, reply) =>
    send(reply, `{"jsonrpc":"2.0","result":${answerOf(request, chain)},"id":${request.id}}\n`);
