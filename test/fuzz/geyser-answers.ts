import { gzipSync, zstdCompressSync } from 'node:zlib';
import { encodeFrame, GrpcFrames, InvalidGrpc } from '../../src/protocol/grpc/frames.ts';
import { accepted } from './engine/accepted.ts';
import { message as anyMessage } from './engine/generate-protobuf.ts';
import type { Random } from './engine/mutate.ts';

export const from = 'nodes';
export const covers = ['protocol/grpc/frames.ts'];

const MESSAGE_MAX_BYTES = 4_096;
const SIZES = { messageMaxBytes: MESSAGE_MAX_BYTES, unpackedRatioMax: 16, unpackedFreeBytes: 2_048 };

const messages = [new Uint8Array(3), Buffer.from('{"version":"12.1.0"}'), new Uint8Array(400).fill(7)];

function packed(message: Uint8Array): Buffer {
  const frame = encodeFrame(message);
  frame[0] = 1;
  return frame;
}

/** Answers in frames. The first byte says how they are compressed, the second the length of the pieces they come in. */
export const seeds: readonly Uint8Array[] = [
  ...messages.map((message, at) => Buffer.of(0, at * 3, ...encodeFrame(message), ...encodeFrame(message))),
  ...messages.map((message) => Buffer.of(1, 9, ...packed(gzipSync(message)), ...encodeFrame(message))),
  ...messages.map((message) => Buffer.of(2, 2, ...packed(zstdCompressSync(message)))),
  Buffer.of(1, 255, ...packed(gzipSync(new Uint8Array(MESSAGE_MAX_BYTES + 1)))),
];

/** Messages whose fields are of any number and kind, in frames. */
export const generate = (random: Random): Uint8Array =>
  Buffer.of(0, random(), ...encodeFrame(anyMessage(random)), ...encodeFrame(anyMessage(random)));

type Cut = { readonly messages: Buffer[]; isRefused: boolean };

function cut(bytes: Uint8Array, encoding: string, length: number): Cut {
  const frames = new GrpcFrames(SIZES);
  frames.encoding = encoding;
  const outcome: Cut = { messages: [], isRefused: false };
  const push = (at: number) => () => {
    frames.push(Buffer.from(bytes.subarray(at, at + length)));
    for (let one = frames.next(); one !== null; one = frames.next()) outcome.messages.push(one);
  };
  for (let at = 0; at < bytes.length && !outcome.isRefused; at += length)
    outcome.isRefused = !accepted(push(at), InvalidGrpc);
  return outcome;
}

/** The same messages come out, wherever the pieces begin and end. */
export function fuzz(input: Uint8Array): boolean {
  const [which = 0, length = 0] = input;
  const encoding = ['identity', 'gzip', 'zstd'][which % 3] as string;
  const bytes = input.subarray(2);
  const [single, pieces] = [cut(bytes, encoding, 1), cut(bytes, encoding, length + 1)];
  const isSame =
    single.isRefused === pieces.isRefused &&
    single.messages.length === pieces.messages.length &&
    single.messages.every((message, at) => message.equals(pieces.messages[at] as Buffer));
  if (!isSame) throw new Error('pieces change what comes out');
  if (single.messages.some((message) => message.length > MESSAGE_MAX_BYTES))
    throw new Error('a message is larger than is taken');
  return single.messages.length > 0;
}
