import type { Writable } from 'node:stream';
import { HEAD_BYTES } from '../../protocol/grpc/frames.ts';
import type { FlushTurn } from '../../streams/flush-turn.ts';
import type { Behind } from '../../streams/geyser/geyser-sink.ts';
import type { CompressedRuns } from './compressed-runs.ts';
import { FrameRuns, RUN_MAX_BYTES, type Slab, writeHead } from './frame-runs.ts';
import type { QueueBudget } from './queue-budget.ts';

export type OutboxOptions = Readonly<{
  /** Messages that may wait; with another the client lags. */
  queueMaxMessages: number;
  /** Bytes that may wait; when more do and another message comes, the client lags. */
  queueMaxBytes: number;
}>;

/** Whoever has an outbox. */
export interface OutboxOwner {
  /** More waits than may. The outbox takes nothing more, and what waited is dropped. Called once. */
  lagged(behind: Behind): void;
}

/** From this size on a message leaves in memory of its own, uncopied. */
const LARGE_BYTES = 16 * 1024;

/** Writes that the stream has at a time: one that leaves, one that follows at once. What else waits is shared memory. */
const WRITES_MAX = 2;

/** A queue that was read so far from its front is moved up. */
const MOVE_UP_PARTS = 8_192;

/** When what waits leaves: with what comes within a moment, or in the turn in which it came. */
export type FlushTurns = Readonly<{ joined: FlushTurn; urgent: FlushTurn }>;

/** What the outboxes of a server share, and whose this one is. */
export type OutboxParts = Readonly<{
  queues: QueueBudget;
  turns: FlushTurns;
  /** null: what is sent is not compressed. */
  compressor: CompressedRuns | null;
  owner: OutboxOwner;
}>;

const runs = new FrameRuns();

/**
 * The bounded queue of messages before one call's HTTP/2 stream. Messages are held by reference, in two parts that many
 * queues share; all that came in a turn leave in one write, and what a client is slow to take stays shared.
 */
export class Outbox {
  readonly #stream: Writable;
  readonly #options: OutboxOptions;
  readonly #budget: QueueBudget;
  readonly #turns: FlushTurns;
  #turn: FlushTurn;
  readonly #owner: OutboxOwner;
  readonly #compressor: CompressedRuns | null;
  /** Names and tail of each message that waits, in turns, from `#from` on. */
  readonly #parts: Uint8Array[] = [];
  #from = 0;
  #queuedBytes = 0;
  /** Of each write that is under way: its bytes, and the slab it reads. The same order as they were written. */
  readonly #writing: number[] = [];
  readonly #slabs: (Slab | null)[] = [];
  #writingBytes = 0;
  #isAsked = false;
  #state: 'open' | 'finishing' | 'over' = 'open';
  #sentMessages = 0;
  #sentBytes = 0;

  constructor(stream: Writable, options: OutboxOptions, { queues, turns, compressor, owner }: OutboxParts) {
    this.#stream = stream;
    this.#options = options;
    this.#budget = queues;
    this.#turns = turns;
    this.#turn = turns.joined;
    this.#owner = owner;
    this.#compressor = compressor;
  }

  /** Bytes that wait for the client to take them. */
  get waitingBytes(): number {
    return this.#queuedBytes + this.#writingBytes;
  }

  /** Messages that wait in the queue. */
  get waitingMessages(): number {
    return (this.#parts.length - this.#from) >> 1;
  }

  /** Bytes that wait in the queue, and would be dropped with it. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Queues a message. @param names - first part, which may be empty. */
  push(names: Uint8Array, tail: Uint8Array): void {
    if (this.#state !== 'open') return;
    const bytes = HEAD_BYTES + names.length + tail.length;
    const { queueMaxMessages, queueMaxBytes } = this.#options;
    if (this.waitingMessages >= queueMaxMessages || this.waitingBytes > queueMaxBytes) {
      this.#owner.lagged(this.cut(1, bytes));
      return;
    }
    this.#parts.push(names, tail);
    this.#queuedBytes += bytes;
    this.#budget.take(bytes);
    this.#ask();
  }

  /** What comes leaves in the turn in which it came. */
  hurry(): void {
    this.#turn = this.#turns.urgent;
  }

  /** Hands to the stream what it takes now. */
  flush(): void {
    this.#isAsked = false;
    if (this.#state === 'over') return;
    while (this.#from < this.#parts.length && this.#writing.length < WRITES_MAX) this.#writeNext();
    if (this.#state === 'finishing' && this.#from === this.#parts.length) {
      this.#state = 'over';
      this.#stream.end();
    }
  }

  /** Takes nothing more; ends the stream when all that waits was handed to it. */
  finish(): void {
    if (this.#state !== 'open') return;
    this.#state = 'finishing';
    this.flush();
  }

  /** Drops what waits, but for what the stream has; `finish` then ends it. @returns what is not taken. */
  cut(moreMessages = 0, moreBytes = 0): Behind {
    const messages = ((this.#parts.length - this.#from) >> 1) + moreMessages;
    const behind = { messages, bytes: this.waitingBytes + moreBytes };
    this.#empty();
    return behind;
  }

  /** Lets go of everything: the stream is gone. */
  close(): void {
    this.#state = 'over';
    this.#empty();
    this.#budget.give(this.#writingBytes);
    this.#writingBytes = 0;
  }

  /** Messages that were handed to the stream since the last look, and their bytes, as many as before compression. */
  takeSent(): { messages: number; bytes: number } {
    const sent = { messages: this.#sentMessages, bytes: this.#sentBytes };
    this.#sentMessages = 0;
    this.#sentBytes = 0;
    return sent;
  }

  #ask(): void {
    if (this.#isAsked || this.#from === this.#parts.length) return;
    this.#isAsked = true;
    this.#turn.ask(this);
  }

  #empty(): void {
    this.#parts.length = 0;
    this.#from = 0;
    this.#budget.give(this.#queuedBytes);
    this.#queuedBytes = 0;
  }

  #writeNext(): void {
    const parts = this.#parts;
    let to = this.#from;
    let bytes = 0;
    while (to < parts.length) {
      const next = HEAD_BYTES + (parts[to] as Uint8Array).length + (parts[to + 1] as Uint8Array).length;
      if (next > LARGE_BYTES || bytes + next > RUN_MAX_BYTES) break;
      bytes += next;
      to += 2;
    }
    if (this.#compressor !== null) this.#writeCompressed(this.#compressor, Math.max(to, this.#from + 2));
    else if (bytes > 0) this.#writeRun(to, bytes);
    else this.#writeLarge();
  }

  #writeRun(to: number, bytes: number): void {
    const run = runs.join(this.#parts, this.#from, to, bytes);
    runs.slab.readers += 1;
    this.#writes(to, bytes, bytes, runs.slab);
    this.#stream.write(run, this.#onWritten);
  }

  #writeCompressed(compressor: CompressedRuns, to: number): void {
    const bytes = this.#bytesUntil(to);
    const run = compressor.join(this.#parts, this.#from, to);
    this.#writes(to, bytes, run.length, null);
    this.#stream.write(run, this.#onWritten);
  }

  /** The tail is not copied; head and names are. */
  #writeLarge(): void {
    const names = this.#parts[this.#from] as Uint8Array;
    const tail = this.#parts[this.#from + 1] as Uint8Array;
    const head = Buffer.allocUnsafe(HEAD_BYTES + names.length);
    writeHead(head, 0, 0, names.length + tail.length);
    head.set(names, HEAD_BYTES);
    const bytes = head.length + tail.length;
    this.#writes(this.#from + 2, bytes, bytes, null);
    this.#stream.cork();
    this.#stream.write(head);
    this.#stream.write(tail, this.#onWritten);
    this.#stream.uncork();
  }

  #bytesUntil(to: number): number {
    let bytes = 0;
    for (let i = this.#from; i < to; i += 2) {
      bytes += HEAD_BYTES + (this.#parts[i] as Uint8Array).length + (this.#parts[i + 1] as Uint8Array).length;
    }
    return bytes;
  }

  /** Notes a write: messages before `to` leave the queue, in so many bytes. */
  #writes(to: number, queuedBytes: number, bytes: number, slab: Slab | null): void {
    this.#sentMessages += (to - this.#from) >> 1;
    this.#sentBytes += queuedBytes;
    this.#queuedBytes -= queuedBytes;
    this.#writingBytes += bytes;
    this.#budget.take(bytes - queuedBytes);
    this.#writing.push(bytes);
    this.#slabs.push(slab);
    this.#from = to;
    if (to === this.#parts.length) {
      this.#parts.length = 0;
      this.#from = 0;
    } else if (to > MOVE_UP_PARTS && to * 2 > this.#parts.length) {
      this.#parts.splice(0, to);
      this.#from = 0;
    }
  }

  /**
   * A write has left. What a stream that was cut off has not sent may still be read by HTTP/2, so that memory is not
   * used again.
   */
  readonly #onWritten = (fault?: Error | null): void => {
    const bytes = this.#writing.shift() as number;
    const slab = this.#slabs.shift() as Slab | null;
    if (fault || this.#stream.destroyed) return;
    if (slab !== null) runs.release(slab);
    this.#writingBytes -= bytes;
    this.#budget.give(bytes);
    // What came since then leaves together with what still comes, unless there is much of it.
    if (this.#state === 'open' && this.#queuedBytes < RUN_MAX_BYTES) this.#ask();
    else this.flush();
  };
}
