import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ListenerLoad } from './routes.ts';

/** Per-connection HTTP state, stored on the socket. */

const openResponseSet = Symbol('open responses');
/** Whether the first bytes arrived while the fast path was handling the previous request. */
const pipelined = Symbol('pipelined');
/** Whether a request was rejected as malformed; nothing after it can be trusted. */
const untrusted = Symbol('untrusted');
type Connection = Duplex & {
  [openResponseSet]?: Set<ServerResponse>;
  [pipelined]?: boolean;
  [untrusted]?: boolean;
};

/** Returns the open responses in request order, as a set that callers may change. */
export function openResponses(socket: Duplex): Set<ServerResponse> {
  const connection = socket as Connection;
  connection[openResponseSet] ??= new Set();
  return connection[openResponseSet];
}

export const responsesOf = (socket: Duplex): readonly ServerResponse[] => [
  ...((socket as Connection)[openResponseSet] ?? []),
];

export function setPipelined(socket: Duplex, value: boolean): void {
  (socket as Connection)[pipelined] = value;
}

/** Whether node:http has read only bytes that were pipelined after a request on the fast path. */
export function isPipelined(socket: Duplex): boolean {
  const connection = socket as Connection;
  return connection[openResponseSet] === undefined && connection[pipelined] === true;
}

export function markUntrusted(socket: Duplex): void {
  (socket as Connection)[untrusted] = true;
}

export const isUntrusted = (socket: Duplex): boolean => (socket as Connection)[untrusted] === true;

/** Closes the connection once every fully received request has its response. @returns false if there is none. */
export function closeAfterResponses(socket: Duplex): boolean {
  const last = responsesOf(socket).findLast(({ req }) => req.complete);
  if (last === undefined || socket.destroyed) return false;
  if (!last.headersSent) last.setHeader('connection', 'close');
  last.once('finish', () => (socket as Socket).destroySoon());
  return true;
}

const signal = Symbol('disconnect signal');
type TaggedSocket = Socket & { [signal]?: AbortSignal };

/** Aborts when the connection closes. Requests share it: creating one for each would cost more than authentication. */
export function disconnectSignal(socket: TaggedSocket): AbortSignal {
  const existing = socket[signal];
  if (existing !== undefined) return existing;
  const controller = new AbortController();
  socket[signal] = controller.signal;
  if (socket.destroyed) controller.abort();
  else socket.once('close', () => controller.abort());
  return controller.signal;
}

const exemptRequests = new WeakSet<IncomingMessage>();

/** Used for uploads, which may take up to `exemptTimeoutMaxMs`. The upload reader enforces progress itself. */
export function exemptFromTimeout(request: IncomingMessage): void {
  exemptRequests.add(request);
}

export const isExemptFromTimeout = (request: IncomingMessage): boolean => exemptRequests.has(request);

/** Reading pauses while more requests than this are open; meanwhile, a disconnect of the client is not noticed. */
const WAITING_MAX = 16;

export type StartRequest = (response: ServerResponse) => void;

type Waiting = Readonly<{ start: StartRequest; since: number }>;

/** Runs one request at a time per connection, so that a client that does not read has at most one response buffered. */
export class OpenRequests {
  /** Open responses and the start times of their requests, on the `performance.now()` clock. */
  readonly #startedAt = new Map<ServerResponse, number>();
  readonly #waiting = new Map<ServerResponse, Waiting>();
  readonly #load: ListenerLoad;
  readonly #onEnd: () => void;

  constructor(load: ListenerLoad, onEnd: () => void) {
    this.#load = load;
    this.#onEnd = onEnd;
  }

  /** Starts the request after all earlier requests on its connection. It counts as open until its response closes. */
  enqueue(response: ServerResponse, start: StartRequest): void {
    const { socket } = response.req;
    const ofConnection = openResponses(socket);
    const isFirst = ofConnection.size === 0;
    ofConnection.add(response);
    if (isFirst) {
      this.#start(response, start);
      return;
    }
    this.#waiting.set(response, { start, since: performance.now() });
    if (ofConnection.size > WAITING_MAX) socket.pause();
    // A response that was never started emits no event when the connection closes.
    if (ofConnection.size === 2) socket.once('close', () => this.#removeWaiting(ofConnection));
  }

  /** Adds `connection: close` to every response whose head has not been sent yet. */
  closeAfterResponses(): void {
    for (const response of this.#startedAt.keys())
      if (!response.headersSent) response.setHeader('connection', 'close');
  }

  /** Reports requests that were started or queued before `before` (ms) and have incomplete bodies, each only once. */
  reportOverdue(before: number, onOverdue: (request: IncomingMessage) => void): void {
    for (const [response, startedAt] of this.#startedAt) {
      const { req } = response;
      if (startedAt > before || req.complete || isExemptFromTimeout(req)) continue;
      // Prevent a second report: the connection may stay open for the responses to earlier requests.
      this.#startedAt.set(response, Number.POSITIVE_INFINITY);
      onOverdue(req);
    }
    for (const [response, { start, since }] of this.#waiting) {
      const { req } = response;
      // A queued request is read only up to the high-water mark.
      if (since > before || req.complete || req.readableLength >= req.readableHighWaterMark) continue;
      this.#waiting.set(response, { start, since: Number.POSITIVE_INFINITY });
      onOverdue(req);
    }
  }

  #start(response: ServerResponse, start: StartRequest): void {
    const { socket } = response.req;
    this.#startedAt.set(response, performance.now());
    this.#load.inFlight++;
    response.on('close', () => {
      openResponses(socket).delete(response);
      this.#startedAt.delete(response);
      this.#load.inFlight--;
      this.#startNext(socket);
      this.#onEnd();
    });
    start(response);
  }

  #startNext(socket: Socket): void {
    const ofConnection = openResponses(socket);
    const [response] = ofConnection;
    const waiting = response === undefined ? undefined : this.#waiting.get(response);
    if (response === undefined || waiting === undefined || hasEnded(socket)) return;
    this.#waiting.delete(response);
    if (ofConnection.size <= WAITING_MAX && socket.isPaused()) socket.resume();
    this.#start(response, waiting.start);
  }

  #removeWaiting(ofConnection: Set<ServerResponse>): void {
    for (const response of ofConnection) if (this.#waiting.delete(response)) ofConnection.delete(response);
  }
}

const hasEnded = ({ writableEnded, destroyed }: Socket): boolean => writableEnded || destroyed;
