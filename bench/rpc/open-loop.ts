import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { OpenLoopOrder, OpenLoopWord } from './open-loop-messages.ts';

/**
 * Sends requests at a fixed rate regardless of responses. A closed loop would omit the slowest requests of a stalled
 * server (coordinated omission). Latency counts from the turn in which a request was due; the delay of the turn is
 * reported separately.
 */
const TURN_MS = 1;
/** Time to wait for the last responses. */
const LAST_ANSWERS_MS = 5_000;
const CONTENT_LENGTH = /content-length: *(\d+)/i;
const MISSING = '-------';

const requestOf = (credential: string): string => {
  const params =
    '["So11111111111111111111111111111111111111112",{"encoding":"base64","commitment":"confirmed"}]';
  const body = `{"jsonrpc":"2.0","id":1,"method":"getAccountInfo","params":${params}}`;
  return (
    `POST /v1/rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
    `Authorization: ${credential}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  );
};

/** A connection with one request in flight. */
class ClientConnection {
  readonly #socket: Socket;
  readonly #loop: OpenLoop;
  #pending = '';
  #dueAt = 0;

  constructor(socket: Socket, loop: OpenLoop) {
    this.#socket = socket;
    this.#loop = loop;
    socket.on('data', (chunk: string) => this.#read(chunk));
    socket.on('error', () => loop.onError());
  }

  send(request: string, dueAt: number): void {
    this.#dueAt = dueAt;
    this.#socket.write(request, 'latin1');
  }

  end(): void {
    this.#socket.destroy();
  }

  #read(chunk: string): void {
    this.#pending += chunk;
    const headEnd = this.#pending.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = Number(CONTENT_LENGTH.exec(this.#pending.slice(0, headEnd))?.[1] ?? MISSING);
    if (this.#pending.length < headEnd + 4 + length) return;
    const isGood = this.#pending.startsWith('HTTP/1.1 200') && this.#pending.length === headEnd + 4 + length;
    this.#pending = '';
    this.#loop.onResponse(this, this.#dueAt, isGood);
  }
}

class OpenLoop {
  readonly #order: OpenLoopOrder;
  readonly #requests: readonly string[];
  readonly #times: number[] = [];
  readonly #delays: number[] = [];
  /** Idle connections, longest idle first. */
  readonly #free: ClientConnection[] = [];
  readonly #connections: ClientConnection[] = [];
  /** Due times of requests that wait for a connection. */
  readonly #waiting: number[] = [];
  #sent = 0;
  #failures = 0;
  #startedAt = 0;

  constructor(order: OpenLoopOrder) {
    this.#order = order;
    this.#requests = order.credentials.map(requestOf);
  }

  async open(): Promise<void> {
    for (let n = 0; n < this.#order.connections; n++) {
      const socket = connect(this.#order.port, '127.0.0.1').setNoDelay().setEncoding('latin1');
      await once(socket, 'connect');
      this.#connections.push(new ClientConnection(socket, this));
    }
    this.#free.push(...this.#connections);
  }

  /** Sends until the time is over. */
  async start(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#startedAt = performance.now();
    const timer = setInterval(() => {
      if (this.#tick()) return;
      clearInterval(timer);
      resolve();
    }, TURN_MS);
    await promise;
    const until = performance.now() + LAST_ANSWERS_MS;
    while (this.#times.length + this.#failures < this.#sent && performance.now() < until)
      await new Promise((next) => setTimeout(next, 10));
  }

  close(): OpenLoopWord {
    for (const connection of this.#connections) connection.end();
    const unanswered = this.#sent - this.#times.length - this.#failures;
    return {
      requests: this.#sent,
      failures: this.#failures + unanswered,
      p50Ms: shareOf(this.#times, 0.5),
      p99Ms: shareOf(this.#times, 0.99),
      lateP99Ms: shareOf(this.#delays, 0.99),
    };
  }

  onResponse(connection: ClientConnection, dueAt: number, isGood: boolean): void {
    if (isGood) this.#times.push(performance.now() - dueAt);
    else this.#failures++;
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#free.push(connection);
    else this.#send(connection, waiting);
  }

  /** A connection was lost; its request stays unanswered. */
  onError(): void {
    this.#failures++;
  }

  /** Sends the requests that are due. @returns whether more follow. */
  #tick(): boolean {
    const { rate, seconds } = this.#order;
    const now = performance.now();
    const due = Math.min(Math.floor(((now - this.#startedAt) / 1_000) * rate), rate * seconds);
    while (this.#sent < due) {
      this.#delays.push(now - this.#startedAt - (this.#sent / rate) * 1_000);
      this.#sent++;
      const connection = this.#free.shift();
      if (connection === undefined) this.#waiting.push(now);
      else this.#send(connection, now);
    }
    return this.#sent < rate * seconds;
  }

  #send(connection: ClientConnection, dueAt: number): void {
    connection.send(this.#requests[this.#sent % this.#requests.length] as string, dueAt);
  }
}

/** Percentile. */
function shareOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function runLoad(order: OpenLoopOrder): Promise<OpenLoopWord> {
  const loop = new OpenLoop(order);
  await loop.open();
  await loop.start();
  return loop.close();
}

process.on('message', (order: OpenLoopOrder) => {
  void runLoad(order).then((word) => process.send?.(word));
});
