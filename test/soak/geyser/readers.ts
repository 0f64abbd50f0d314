import { commitments } from '../../../src/protocol/commitment.ts';
import { encodeSubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import { GrpcStream } from '../../../src/upstream/geyser/grpc-stream.ts';
import { Findings } from './findings.ts';
import { longTimeouts } from './long-timeouts.ts';
import { type Drawing, RandomLedger } from './random-ledger.ts';
import { RandomReader } from './random-reader.ts';

/**
 * gRPC clients of the gateway in a process of their own: each subscribes to one owner and compares its updates with the
 * generated ledger. One more subscribes to everything and repeatedly stops reading for a while.
 * Arguments: URL, key, number of streams, parameters of the ledger as JSON.
 */

const [, , url = '', token = '', countText = '100', drawingText = '{}'] = process.argv;
const drawing = JSON.parse(drawingText) as Drawing;
const ledger = new RandomLedger(drawing);
const findings = new Findings();
const REPORT_MS = 1_000;
/** Until all subscriptions are active. */
const SETTLED_MS = 3_000;
/** Pause of the stream that does not read, less than the gateway's timeout; then it checks whether it was ended. */
const PAUSE_MS = 5_000;
const CHECK_MS = 1_500;
/** A small window, so that the gateway notices soon. */
const PAUSED_WINDOW_BYTES = 64 * 1024;

type Listener = ConstructorParameters<typeof GrpcStream>[1];

function open(request: Uint8Array, listener: Omit<Listener, 'onOpen'>, limits = longTimeouts): GrpcStream {
  const options = {
    ...limits,
    url,
    headers: { 'x-token': token },
    method: '/geyser.Geyser/Subscribe',
  };
  const stream = new GrpcStream(options, { onOpen: () => {}, ...listener });
  stream.send(request);
  return stream;
}

function lag(): void {
  const request = encodeSubscribeRequest({
    accounts: new Map([['all', {}]]),
    transactions: new Map([['all', {}]]),
  });
  let timer: NodeJS.Timeout;
  const ended: Listener['onEnd'] = ({ code, message }) => {
    clearTimeout(timer);
    findings.lagged.push(`${code} ${message}`);
    lag();
  };
  const limits = { ...longTimeouts, windowBytes: PAUSED_WINDOW_BYTES };
  const stream = open(request, { onMessage: () => {}, onEnd: ended }, limits);
  const pause = (): void => {
    stream.pause();
    timer = setTimeout(check, PAUSE_MS);
  };
  // A stream that does not read does not notice its end.
  const check = (): void => {
    stream.resume();
    timer = setTimeout(pause, CHECK_MS);
  };
  pause();
}

const from = ledger.slotAt(Date.now() + SETTLED_MS) + 1;
const readers = Array.from({ length: Number(countText) - 1 }, (_, number) => {
  const reader = new RandomReader(number, from, ledger, findings);
  open(encodeSubscribeRequest(reader.request), {
    onMessage: (bytes) => reader.take(bytes),
    onEnd: ({ code, message }) => reader.ended(`${code} ${message}`),
  });
  return reader;
});
lag();

setInterval(() => {
  const reached = commitments.map((level) =>
    Math.min(...readers.filter(({ commitment }) => commitment === level).map((reader) => reader.progress)),
  );
  // The parent process may be gone; then this process exits, too.
  process.send?.(findings.found(reached), undefined, undefined, () => {});
}, REPORT_MS);
process.on('disconnect', () => process.exit());
