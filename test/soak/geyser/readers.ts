import { commitments } from '../../../src/protocol/commitment.ts';
import { encodeSubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import { GrpcStream } from '../../../src/upstream/feeds/geyser/grpc-stream.ts';
import { type Drawing, DrawnLedger } from './drawn-ledger.ts';
import { DrawnReader } from './drawn-reader.ts';
import { Findings } from './findings.ts';
import { patientLimits } from './patient-limits.ts';

/**
 * Readers of the gateway's gRPC door, in a process of their own: each hears of one owner and holds what it heard
 * against the drawn ledger. One more asks for everything and reads nothing for a while, again and again.
 * Arguments: the door's URL, the key, how many streams in all, the drawing as JSON.
 */

const [, , url = '', token = '', countText = '100', drawingText = '{}'] = process.argv;
const drawing = JSON.parse(drawingText) as Drawing;
const ledger = new DrawnLedger(drawing);
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

function open(request: Uint8Array, listener: Omit<Listener, 'opened'>, limits = patientLimits): GrpcStream {
  const options = {
    ...limits,
    url,
    headers: { 'x-token': token },
    method: '/geyser.Geyser/Subscribe',
  };
  const stream = new GrpcStream(options, { opened: () => {}, ...listener });
  stream.send(request);
  return stream;
}

function lag(): void {
  const request = encodeSubscribeRequest({
    accounts: new Map([['all', {}]]),
    transactions: new Map([['all', {}]]),
  });
  let timer: NodeJS.Timeout;
  const ended: Listener['ended'] = ({ code, message }) => {
    clearTimeout(timer);
    findings.lagged.push(`${code} ${message}`);
    lag();
  };
  const limits = { ...patientLimits, windowBytes: DEAF_WINDOW_BYTES };
  const stream = open(request, { message: () => {}, ended }, limits);
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
  const reader = new DrawnReader(number, from, ledger, findings);
  open(encodeSubscribeRequest(reader.request), {
    message: (bytes) => reader.take(bytes),
    ended: ({ code, message }) => reader.ended(`${code} ${message}`),
  });
  return reader;
});
lag();

setInterval(() => {
  const reached = commitments.map((level) =>
    Math.min(...readers.filter(({ commitment }) => commitment === level).map((reader) => reader.reached)),
  );
  // Whoever listened may have gone a moment ago; then so does this process.
  process.send?.(findings.found(reached), undefined, undefined, () => {});
}, REPORT_MS);
process.on('disconnect', () => process.exit());
