import { isUtf8 } from 'node:buffer';
import type { Failure } from '../../src/protocol/errors.ts';
import type { ResponseReader } from '../../src/protocol/streamed-response.ts';
import type { BodyFlow } from '../../src/upstream/exchange.ts';
import { PassthroughResponse } from '../../src/upstream/response/passthrough-response.ts';

export const from = 'nodes';
export const covers = ['upstream/response/passthrough-response.ts'];

const ID = 7;
const HEAD = '{"jsonrpc":"2.0","result":';
const long = JSON.stringify({ list: Array.from({ length: 12 }, (_, at) => `é€😀 ${at}`) });
const OFFERED = 100;

/** Long answers. The first byte is the length of the pieces they come in. */
export const seeds: readonly Uint8Array[] = [
  `${HEAD}${long},"id":${ID}}\n`,
  `${HEAD}[${long}],"id":${ID}}`,
  `${HEAD}"${'x'.repeat(120)}","id":${ID}}\n`,
  `${HEAD}${long},"id":8}`,
  `${HEAD}${long}`,
].map((text, at) => Buffer.from([at * 9, ...Buffer.from(text)]));

/** Pieces until they end or break off. */
class Reading implements ResponseReader {
  readonly #pieces: Buffer[] = [];
  end: 'complete' | Failure | null = null;

  get bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  onData(bytes: Buffer): void {
    if (this.end !== null) throw new Error('more after the end');
    this.#pieces.push(bytes);
  }

  onEnd(last: Buffer): void {
    this.onData(last);
    this.end = 'complete';
  }

  onError(failure: Failure): void {
    this.end = failure;
  }
}

const flow: BodyFlow = { pause: () => {}, resume: () => {}, stop: () => {} };

function passed(bytes: Buffer, length: number, isMeasured: boolean): Reading {
  let ends = 0;
  const owner = { network: 'devnet', responseMaxBytes: 9, onStreamEnd: () => ends++ } as const;
  const size = isMeasured ? bytes.length : null;
  const answer = new PassthroughResponse(Buffer.from(bytes.subarray(0, OFFERED)), size, ID, flow, owner);
  const reader = new Reading();
  answer.pipeTo(reader);
  for (let at = OFFERED; at < bytes.length; at += length)
    answer.onData(Buffer.from(bytes.subarray(at, at + length)));
  answer.onEnd();
  if (ends !== 1) throw new Error(`ended ${ends} times`);
  if (reader.end === 'complete' && answer.bytes !== null && reader.bytes.length !== answer.bytes)
    throw new Error('another length than was announced');
  return reader;
}

/** Wherever the pieces begin: the whole result and nothing else, or a break. @returns whether it was whole. */
export function fuzz(input: Uint8Array): boolean {
  const bytes = Buffer.from(input.subarray(1));
  if (bytes.length < OFFERED || !PassthroughResponse.canStream(bytes.subarray(0, OFFERED))) return false;
  const body = bytes.toString('latin1').replace(/\n$/, '');
  const tail = `,"id":${ID}}`;
  const isOurs = isUtf8(bytes) && body.endsWith(tail);
  const result = body.slice(HEAD.length, -tail.length);
  for (const length of [1, (input[0] ?? 0) + 1, bytes.length]) {
    for (const isMeasured of [true, false]) {
      const reader = passed(bytes, length, isMeasured);
      const isWhole = reader.end === 'complete';
      if (isWhole && !isOurs) throw new Error('took for whole what is not');
      if (isWhole && reader.bytes.toString('latin1').trimEnd() !== result.trimEnd())
        throw new Error('passed on something else');
    }
  }
  return passed(bytes, bytes.length, true).end === 'complete';
}
