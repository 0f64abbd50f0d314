import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { NotificationFrame } from './notification.ts';

/** A whole frame: bytes, or a notification that becomes bytes in the run it leaves in. */
type Frame = Buffer | NotificationFrame;

/** The most bytes of a run. */
const BATCH_MAX_BYTES = 64 * 1024;

/**
 * Frames that leave together, as one piece of bytes. The same frames in the same order mostly leave for many sockets,
 * one after the other: they are written once and shared. A run is written over the one before, unless that is kept.
 */
class WriteBatch {
  #frames: Frame[] = [];
  #slab = Buffer.allocUnsafeSlow(BATCH_MAX_BYTES);
  #start = 0;
  #end = 0;
  #joined: Buffer = this.#slab.subarray(0, 0);

  /**
   * Joins frames to a run.
   * @param bytes - of all of them, at most RUN_MAX_BYTES.
   * @returns the run, not to be modified; it stands until the next is joined, or for as long as it is kept.
   */
  join(frames: readonly Frame[], bytes: number): Buffer {
    if (this.#isLast(frames)) return this.#joined;
    if (this.#start + bytes > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(BATCH_MAX_BYTES);
      this.#start = 0;
    }
    this.#end = this.#start;
    this.#frames.length = 0;
    for (const frame of frames) this.#add(frame);
    this.#joined = this.#slab.subarray(this.#start, this.#end);
    return this.#joined;
  }

  /** The last run is not written over: somebody has not read all of it. */
  retain(): void {
    this.#start = this.#end;
  }

  #add(frame: Frame): void {
    this.#frames.push(frame);
    if (frame instanceof Uint8Array) this.#slab.set(frame, this.#end);
    else frame.write(this.#slab, this.#end);
    this.#end += frame.length;
  }

  #isLast(frames: readonly Frame[]): boolean {
    if (frames.length !== this.#frames.length) return false;
    for (let i = 0; i < frames.length; i++) if (frames[i] !== this.#frames[i]) return false;
    return true;
  }
}

/** What may have something to send by the end of a turn. */
interface Flushable {
  flush(): void;
}

/**
 * Flushes all who asked for it, once in each turn of the event loop: what came for a socket from all that was
 * read in the turn leaves in one write. A microtask would run after each thing that was read, and join less.
 */
export class FlushScheduler {
  readonly #minIntervalMs: number;
  #flushedAt = 0;
  #scheduled: Flushable[] = [];
  /** The list of the turn before, emptied, so that none is made anew. */
  #reusable: Flushable[] = [];
  readonly #flush = (): void => {
    if (this.#minIntervalMs > 0) this.#flushedAt = performance.now();
    const scheduled = this.#scheduled;
    this.#scheduled = this.#reusable;
    for (const one of scheduled) one.flush();
    scheduled.length = 0;
    this.#reusable = scheduled;
  };

  /**
   * @param leastMs - between two flushes: turns that follow each other closely are flushed together, about so much
   * later. 0 flushes every turn.
   */
  constructor(minIntervalMs = 0) {
    this.#minIntervalMs = minIntervalMs;
  }

  /** Asks for a flush in this turn. Who asks twice is flushed twice. */
  schedule(one: Flushable): void {
    if (this.#scheduled.push(one) !== 1) return;
    const remainingMs =
      this.#minIntervalMs === 0 ? 0 : this.#flushedAt + this.#minIntervalMs - performance.now();
    if (remainingMs > 0) setTimeout(this.#flush, remainingMs);
    else setImmediate(this.#flush);
  }
}

export type OutboxOptions = Readonly<{
  /**
   * Bytes that may wait for a socket to take them, with FRAME_OVERHEAD_BYTES for each frame; when more wait and another
   * frame comes, the client lags.
   */
  queueMaxBytes: number;
}>;

/** What may wait for a socket when nothing else is said. */
export const outboxDefaults: OutboxOptions = { queueMaxBytes: 8 * 1024 * 1024 };

/** How much a client has not taken yet. */
export type SendBacklog = Readonly<{ bytes: number; messages: number }>;

/** What a frame that waits takes beside its own bytes, about: a flood of tiny ones is a flood all the same. */
const FRAME_OVERHEAD_BYTES = 200;

const EMPTY = Buffer.alloc(0);

const NO_BACKLOG: SendBacklog = { bytes: 0, messages: 0 };

/** Frames that were asked for may take this many times what the queue holds before they count as lagging. */
const RESPONSE_QUEUE_FACTOR = 8;

const bytesOf = (frame: Frame): Buffer => (frame instanceof Uint8Array ? frame : frame.bytes);

/** There is one event loop, and so one turn that everything waits for. */
const flushScheduler = new FlushScheduler();
const lastBatch = new WriteBatch();

/**
 * The bounded queue of whole frames before one socket. Frames are held by reference; all that came in a turn
 * leave in one write. Others may write whole frames to the same socket, as ws does with pongs: those overtake what
 * still waits here. Before a close frame, `finish`: nothing may follow it.
 */
export class Outbox {
  readonly #socket: Writable;
  /**
   * A socket with nothing left to write has handed its bytes to the system, which copied them; another stream may
   * still pass on the very bytes that it was given.
   */
  readonly #copiesImmediately: boolean;
  readonly #options: OutboxOptions;
  readonly #onLagging: (backlog: SendBacklog) => void;
  #frames: Frame[] = [];
  #bytes = 0;
  /** Where the pong is among the frames; -1: none is. */
  #pongAt = -1;
  /** Bytes among all that waits that the client asked for. */
  #responseBytes = 0;
  #isFlushScheduled = false;
  #isOpen = true;
  /** What the last write left with the socket. */
  #unsent: SendBacklog = NO_BACKLOG;

  /**
   * @param socket - behind its handshake.
   * @param onLagging - called once, when more than the queue holds; nothing is sent afterwards.
   */
  constructor(socket: Writable, options: OutboxOptions, onLagging: (backlog: SendBacklog) => void) {
    this.#socket = socket;
    this.#copiesImmediately = socket instanceof Socket;
    this.#options = options;
    this.#onLagging = onLagging;
    socket.on('drain', () => this.#handleDrain());
  }

  /** Bytes that wait for the client to take them. */
  get queuedBytes(): number {
    return this.#bytes + this.#socket.writableLength;
  }

  /** Messages that wait for the client to take them. */
  get queuedMessages(): number {
    return this.#frames.length + this.#unsent.messages;
  }

  /** Bytes that what waits takes in memory, about. */
  get memoryBytes(): number {
    return this.queuedBytes + this.queuedMessages * FRAME_OVERHEAD_BYTES;
  }

  /** Whether more waits than the queue holds, so that nothing more should be asked for. */
  get isFull(): boolean {
    return this.memoryBytes > this.#options.queueMaxBytes;
  }

  /** Queues a frame, which is not to be modified afterwards. */
  push(frame: Frame): void {
    if (!this.#isOpen) return;
    if (this.#weight() > this.#options.queueMaxBytes + this.#responseBytes) this.#lag(frame);
    else this.#queue(frame);
  }

  /** Queues a pong, in place of one that has not left: only the latest ping needs an answer (RFC 6455 §5.5.3). */
  pushPong(frame: Buffer): void {
    if (this.#pongAt >= 0) this.#removeAt(this.#pongAt);
    const before = this.#frames.length;
    this.push(frame);
    if (this.#frames.length > before) this.#pongAt = before;
  }

  /**
   * Queues the answer to a call. Until it was taken the client may be behind by as much more: it does not lag
   * because it asked for something large.
   */
  pushResponse(frame: Buffer): void {
    if (!this.#isOpen) return;
    const most = this.#options.queueMaxBytes * RESPONSE_QUEUE_FACTOR;
    this.#responseBytes = Math.min(this.#responseBytes + frame.length + FRAME_OVERHEAD_BYTES, most);
    this.push(frame);
  }

  /** As when the socket was last written to: what it took since then is not known without asking it each time. */
  #weight(): number {
    const { bytes, messages } = this.#unsent;
    return this.#bytes + bytes + (this.#frames.length + messages) * FRAME_OVERHEAD_BYTES;
  }

  #removeAt(at: number): void {
    this.#bytes -= (this.#frames[at] as Frame).length;
    if (at === this.#frames.length - 1) this.#frames.pop();
    else this.#frames[at] = EMPTY;
    this.#pongAt = -1;
  }

  #queue(frame: Frame): void {
    this.#bytes += frame.length;
    // What does not leave with this turn keeps only its own bytes from being freed, not all that came with its result.
    this.#frames.push(this.#unsent === NO_BACKLOG ? frame : bytesOf(frame));
    if (this.#bytes > BATCH_MAX_BYTES) this.flush();
    else if (!this.#isFlushScheduled) {
      this.#isFlushScheduled = true;
      flushScheduler.schedule(this);
    }
  }

  /** Hands what waits to the socket, unless that is full; then it goes when the socket drained. */
  flush(): void {
    this.#isFlushScheduled = false;
    if (this.#frames.length === 0 || this.#socket.writableNeedDrain) return;
    if (this.#socket.writable) this.#writeQueued();
    else this.drop();
  }

  /** Hands all that waits to the socket, full or not, and takes nothing more: what is written next comes behind it. */
  finish(): void {
    if (this.#frames.length > 0 && this.#socket.writable) this.#writeQueued();
    this.drop();
  }

  /** Lets go of what waits; nothing is sent afterwards. */
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
    if (bytes > BATCH_MAX_BYTES) this.#writeEach(frames);
    else {
      this.#socket.write(lastBatch.join(frames, bytes));
      if (!this.#copiesImmediately || this.#socket.writableLength > 0) lastBatch.retain();
    }
    frames.length = 0;
  }

  #writeEach(frames: readonly Frame[]): void {
    this.#socket.cork();
    for (const frame of frames) this.#socket.write(bytesOf(frame));
    this.#socket.uncork();
  }

  #handleDrain(): void {
    this.#clearUnsent();
    this.flush();
  }

  #clearUnsent(): void {
    this.#unsent = NO_BACKLOG;
    this.#responseBytes = 0;
  }

  #lag(frame: Frame): void {
    const { bytes, messages } = this.#unsent;
    const backlog = {
      bytes: this.#bytes + bytes + frame.length,
      messages: this.#frames.length + messages + 1,
    };
    this.drop();
    this.#onLagging(backlog);
  }
}
