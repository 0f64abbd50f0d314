import { commitments } from '../../../src/protocol/commitment.ts';
import { encodeSubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import { GrpcStream } from '../../../src/upstream/geyser/grpc-stream.ts';
import { Findings } from './findings.ts';
import { longTimeouts } from './long-timeouts.ts';
import { type Drawing, RandomLedger } from './random-ledger.ts';
import { RandomReader } from './random-reader.ts';

/**
 * Readers of the gateway's gRPC door, in a process of their own: each hears of one owner and holds what it heard
 * against the drawn ledger. One more asks for everything and reads nothing for a while, again and again.
 * Arguments: the door's URL, the key, how many streams in all, the drawing as JSON.
 */

const [, , url = '', token = '', countText = '100', drawingText = '{}'] = process.argv;
const drawing = JSON.parse(drawingText) as Drawing;
const ledger = new RandomLedger(drawing);
const findings = new Findings();
const REPORT_MS = 1_000;
/** Until all that readers want is told. */
const SETTLED_MS = 3_000;
/** How long the one that reads nothing does so, less than the gateway waits; and then looks whether it was cut. */
const DEAF_MS = 5_000;
const LOOK_MS = 1_500;
/** What it takes ahead, so that the gateway soon knows. */
const DEAF_WINDOW_BYTES = 64 * 1024;

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
  const limits = { ...longTimeouts, windowBytes: DEAF_WINDOW_BYTES };
  const stream = open(request, { onMessage: () => {}, onEnd: ended }, limits);
  const deaf = (): void => {
    stream.pause();
    timer = setTimeout(look, DEAF_MS);
  };
  // Nobody who does not read hears that it is over.
  const look = (): void => {
    stream.resume();
    timer = setTimeout(deaf, LOOK_MS);
  };
  deaf();
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
  // Whoever listened may have gone a moment ago; then so does this process.
  process.send?.(findings.found(reached), undefined, undefined, () => {});
}, REPORT_MS);
process.on('disconnect', () => process.exit());
