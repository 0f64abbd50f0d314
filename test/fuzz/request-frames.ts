import { gzipSync } from 'node:zlib';
import { Failure } from '../../src/protocol/errors.ts';
import { encodeFrame } from '../../src/protocol/grpc/frames.ts';
import { GrpcError } from '../../src/protocol/grpc/status.ts';
import { RequestBudget, RequestFrames } from '../../src/servers/grpc/decode.ts';
import { seeds as requests } from './subscribe-request.ts';

export const from = 'clients';
export const covers = ['protocol/grpc/frames.ts', 'servers/grpc/decode.ts'];

const MESSAGE_MAX_BYTES = 4_096;
/** Room for one message that has begun. */
const BUDGET_BYTES = MESSAGE_MAX_BYTES + 1_024;
const SIZES = { messageMaxBytes: MESSAGE_MAX_BYTES, unpackedRatioMax: 16, unpackedFreeBytes: 256 };

const packed = (message: Uint8Array): Buffer => {
  const frame = encodeFrame(gzipSync(message));
  frame[0] = 1;
  return frame;
};

/** Messages as they are and compressed. The first byte is the length of the pieces they come in. */
export const seeds: readonly Uint8Array[] = [
  ...requests.map((request, index) =>
    Buffer.of(index * 50, ...encodeFrame(request), ...encodeFrame(request)),
  ),
  ...requests.map((request) => Buffer.of(7, ...packed(request), ...encodeFrame(request))),
  Buffer.of(0, ...packed(new Uint8Array(MESSAGE_MAX_BYTES + 1))),
];

type Outcome = { readonly messages: string[]; refusal: string | null };

/** What comes out of bytes that come in pieces of one length. */
function cut(bytes: Uint8Array, length: number): Outcome {
  const budget = new RequestBudget(BUDGET_BYTES);
  const frames = new RequestFrames('gzip', SIZES, budget);
  const outcome: Outcome = { messages: [], refusal: null };
  try {
    for (let at = 0; at < bytes.length; at += length) {
      frames.push(Buffer.from(bytes.subarray(at, at + length)));
      for (let next = frames.next(); next !== null; next = frames.next()) {
        const { message } = next;
        if (message.length > MESSAGE_MAX_BYTES) throw new RangeError('a message is larger than is taken');
        outcome.messages.push(message.toString('latin1'));
      }
    }
  } catch (error) {
    if (!(error instanceof GrpcError || error instanceof Failure)) throw error;
    outcome.refusal = error.message;
  }
  frames.close();
  // Everything that was taken has been given back.
  budget.reserve(BUDGET_BYTES);
  return outcome;
}

/** The same comes out, wherever the pieces begin and end. @returns whether nothing was refused. */
export function fuzz(input: Uint8Array): boolean {
  const [length = 0] = input;
  const bytes = input.subarray(1);
  const single = cut(bytes, 1);
  const { messages, refusal } = cut(bytes, length + 1);
  // What stands in the same piece before a message that is refused goes with it.
  const isSame =
    refusal === null ? messages.length === single.messages.length : messages.length <= single.messages.length;
  if (!isSame || refusal !== single.refusal || messages.some((each, i) => each !== single.messages[i]))
    throw new Error('pieces change what comes out');
  return refusal === null;
}
