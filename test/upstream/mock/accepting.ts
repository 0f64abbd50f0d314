import { encodeBase58 } from '../../../src/solana/base58.ts';
import { type Behaviour, type Received, send } from './server.ts';

export type MockChain = {
  status: (signature: string) => string;
  blockHeight: number;
  isBlockhashValid: boolean;
};

/** A chain that knows no transaction and considers every blockhash valid. */
export const freshChain = (): MockChain => ({
  status: () => 'null',
  blockHeight: 900,
  isBlockhashValid: true,
});

export const landed = (confirmationStatus: string, err = 'null'): string =>
  `{"slot":1001,"confirmations":1,"err":${err},"confirmationStatus":"${confirmationStatus}"}`;

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

export const accepting =
  (chain: MockChain = freshChain()): Behaviour =>
  (request, reply) =>
    send(reply, `{"jsonrpc":"2.0","result":${answerOf(request, chain)},"id":${request.id}}\n`);
