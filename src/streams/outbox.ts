import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { NotificationFrame } from './notification.ts';

/** Bytes, or a notification that is encoded when its batch is written. */
type Frame = Buffer | NotificationFrame;

const BATCH_MAX_BYTES = 64 * 1024;

/**
 * Joins frames into one buffer, which is reused unless retained. The same frames usually go to many sockets in a row,
 * so `join` returns the last batch again if the frames are the same.
 */
class WriteBatch {
  #frames: Frame[] = [];
  #slab = Buffer.allocUnsafeSlow(BATCH_MAX_BYTES);
  #start = 0;
  #end = 0;
  #joined: Buffer = this.#slab.subarray(0, 0);

  /** `bytes`: total size, at most BATCH_MAX_BYTES. The batch is valid until the next call unless retained. */
  join(frames: readonly Frame[], bytes: number): Buffer {
    if (this.#isLast(frames)) return this.#joined;
    if (this.#start + bytes > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(BATCH_MAX_BYTES);
      this.#start = 0;
    }
    this.#end = this.#start;
    this.#frames.length = 0;
    for (const frame of frames) {
      this.#frames.push(frame);
      if (frame instanceof Uint8Array) this.#slab.set(frame, this.#end);
      else frame.write(this.#slab, this.#end);
      this.#end += frame.length;
    }
    this.#joined = this.#slab.subarray(this.#start, this.#end);
    return this.#joined;
  }

  /** Protects the last batch from reuse. Call this if a socket has not written all of the batch. */
  retain(): void {
    this.#start = this.#end;
  }

  #isLast(frames: readonly Frame[]): boolean {
    if (frames.length !== this.#frames.length) return false;
    for (let i = 0; i < frames.length; i++) if (frames[i] !== this.#frames[i]) return false;
    return true;
  }
}

interface Flushable {
  flush(): void;
}

/** Writes to each socket once per event loop turn. Writing in microtasks, after each read, would join fewer frames. */
export class FlushScheduler {
  readonly #minIntervalMs: number;
  #flushedAt = 0;
  #scheduled: Flushable[] = [];
  #reusable: Flushable[] = [];
  readonly #flush = (): void => {
    if (this.#minIntervalMs > 0) this.#flushedAt = performance.now();
    const scheduled = this.#scheduled;
    this.#scheduled = this.#reusable;
    for (const one of scheduled) one.flush();
    scheduled.length = 0;
    this.#reusable = scheduled;
  };

  constructor(minIntervalMs = 0) {
    this.#minIntervalMs = minIntervalMs;
  }

  schedule(one: Flushable): void {
    if (this.#scheduled.push(one) !== 1) return;
    const remainingMs =
      this.#minIntervalMs === 0 ? 0 : this.#flushedAt + this.#minIntervalMs - performance.now();
    if (remainingMs > 0) setTimeout(this.#flush, remainingMs);
    else setImmediate(this.#flush);
  }
}

export type OutboxOptions = Readonly<{
  /** Maximum queued bytes per socket, including FRAME_OVERHEAD_BYTES per frame; above this, the client is lagging. */
  queueMaxBytes: number;
}>;

export const outboxDefaults: OutboxOptions = { queueMaxBytes: 8 * 1024 * 1024 };

export type SendBacklog = Readonly<{ bytes: number; messages: number }>;

/** Memory counted per queued frame, so that tiny frames count too. */
const FRAME_OVERHEAD_BYTES = 200;

const EMPTY = Buffer.alloc(0);

const NO_BACKLOG: SendBacklog = { bytes: 0, messages: 0 };

/** Responses may add this many times the queue limit to the backlog before the client is disconnected. */
const RESPONSE_QUEUE_FACTOR = 8;

const bytesOf = (frame: Frame): Buffer => (frame instanceof Uint8Array ? frame : frame.bytes);

const flushScheduler = new FlushScheduler();
const lastBatch = new WriteBatch();

/**
 * Bounded queue for one socket. Holds frames by reference; the frames of one turn are sent in one write. Other code
 * may write whole frames directly to the socket, but they overtake queued frames. Call `finish` before sending a
 * close frame.
 */
export class Outbox {
  readonly #socket: Writable;
  /** A drained `Socket` has copied all bytes to the kernel. Other drained streams may still reference their buffers. */
  readonly #copiesImmediately: boolean;
  readonly #options: OutboxOptions;
  readonly #onLagging: (backlog: SendBacklog) => void;
  #frames: Frame[] = [];
  #bytes = 0;
  /** Index of the queued pong; -1 if there is none. */
  #pongAt = -1;
  #responseBytes = 0;
  #isFlushScheduled = false;
  #isOpen = true;
  /** What the last write left in the socket's buffer. */
  #unsent: SendBacklog = NO_BACKLOG;

  /** `onLagging` is called once, when the queue overflows; nothing is sent afterwards. */
  constructor(socket: Writable, options: OutboxOptions, onLagging: (backlog: SendBacklog) => void) {
    this.#socket = socket;
    this.#copiesImmediately = socket instanceof Socket;
    this.#options = options;
    this.#onLagging = onLagging;
    socket.on('drain', () => {
      this.#clearUnsent();
      this.flush();
    });
  }

  get queuedBytes(): number {
    return this.#bytes + this.#socket.writableLength;
  }

  get queuedMessages(): number {
    return this.#frames.length + this.#unsent.messages;
  }

  get memoryBytes(): number {
    return this.queuedBytes + this.queuedMessages * FRAME_OVERHEAD_BYTES;
  }

  get isFull(): boolean {
    return this.memoryBytes > this.#options.queueMaxBytes;
  }

  push(frame: Frame): void {
    if (!this.#isOpen) return;
    if (this.#estimatedMemoryBytes() > this.#options.queueMaxBytes + this.#responseBytes) {
      const bytes = this.#bytes + this.#unsent.bytes + frame.length;
      const backlog = { bytes, messages: this.queuedMessages + 1 };
      this.drop();
      this.#onLagging(backlog);
    } else {
      this.#bytes += frame.length;
      // A frame queued beyond this turn must not retain the receive buffer of its result.
      this.#frames.push(this.#unsent === NO_BACKLOG ? frame : bytesOf(frame));
      if (this.#bytes > BATCH_MAX_BYTES) this.flush();
      else if (!this.#isFlushScheduled) {
        this.#isFlushScheduled = true;
        flushScheduler.schedule(this);
      }
    }
  }

  /** Replaces a queued pong: only the latest ping needs an answer (RFC 6455 §5.5.3). */
  pushPong(frame: Buffer): void {
    if (this.#pongAt >= 0) this.#removeAt(this.#pongAt);
    const before = this.#frames.length;
    this.push(frame);
    if (this.#frames.length > before) this.#pongAt = before;
  }

  /** Lets the backlog grow by the response's size until the client reads it: a large response does not count as lag. */
  pushResponse(frame: Buffer): void {
    if (!this.#isOpen) return;
    const limit = this.#options.queueMaxBytes * RESPONSE_QUEUE_FACTOR;
    this.#responseBytes = Math.min(this.#responseBytes + frame.length + FRAME_OVERHEAD_BYTES, limit);
    this.push(frame);
  }

  /** Uses values from the last write, because asking the socket each time is expensive. */
  #estimatedMemoryBytes(): number {
    const { bytes, messages } = this.#unsent;
    return this.#bytes + bytes + (this.#frames.length + messages) * FRAME_OVERHEAD_BYTES;
  }

  #removeAt(at: number): void {
    this.#bytes -= (this.#frames[at] as Frame).length;
    if (at === this.#frames.length - 1) this.#frames.pop();
    else this.#frames[at] = EMPTY;
    this.#pongAt = -1;
  }

  flush(): void {
    this.#isFlushScheduled = false;
    if (this.#frames.length === 0 || this.#socket.writableNeedDrain) return;
    if (this.#socket.writable) this.#writeQueued();
    else this.drop();
  }

  /** Writes the whole queue, even to a full socket, and accepts no more frames. */
  finish(): void {
    if (this.#frames.length > 0 && this.#socket.writable) this.#writeQueued();
    this.drop();
  }

  /** Discards the queue; nothing is sent afterwards. */
  drop(): void {
    this.#isOpen = false;
    this.#frames = [];
    this.#bytes = 0;
    this.#pongAt = -1;
  }

  #writeQueued(): void {
    const unsent = this.#socket.writableLength > 0 ? this.#unsent.messages : 0;
    const messages = unsent + this.#frames.length;
    this.#write();
    const bytes = this.#socket.writableLength;
    if (bytes === 0) this.#clearUnsent();
    else this.#unsent = { bytes, messages };
  }

  #write(): void {
    const frames = this.#frames;
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#pongAt = -1;
    if (bytes > BATCH_MAX_BYTES) {
      this.#socket.cork();
      for (const frame of frames) this.#socket.write(bytesOf(frame));
      this.#socket.uncork();
    } else {
      this.#socket.write(lastBatch.join(frames, bytes));
      if (!this.#copiesImmediately || this.#socket.writableLength > 0) lastBatch.retain();
    }
    frames.length = 0;
  }

  #clearUnsent(): void {
    this.#unsent = NO_BACKLOG;
    this.#responseBytes = 0;
  }
}
