import type { Socket } from 'node:net';

/** What happens to everything that passes through a proxy now. */
export type LinkFault = {
  /** Nothing is passed on, and nothing closed. */
  frozen: boolean;
  /** Everything is passed on so much later. */
  delayMs: number;
  /** So much of each connection is passed on in each direction; null: as much as there is. */
  bytesPerSecond: number | null;
  /** Whether a piece of an answer is where its connection breaks, in the middle of the piece; null: none is. */
  breaksAt: (() => boolean) | null;
};

/** A passage that holds more takes no more. */
const HELD_MAX_BYTES = 1024 * 1024;
/** How often a narrow passage lets something through. */
const TICK_MS = 20;

type Piece = { bytes: Buffer; readonly dueAt: number };

/** One direction of a connection through a proxy: what came first leaves first, whatever the weather does meanwhile. */
export class NetworkLink {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #weather: LinkFault;
  readonly #break: (() => void) | null;
  readonly #pieces: Piece[] = [];
  #heldBytes = 0;
  #timer: NodeJS.Timeout | null = null;
  #hasEnded = false;
  /** It breaks as soon as what was passed on has left. */
  #isBreaking = false;

  /** @param breakOff - ends the connection in the middle of an answer; null for the direction of requests. */
  constructor(from: Socket, to: Socket, weather: LinkFault, breakOff: (() => void) | null) {
    this.#from = from;
    this.#to = to;
    this.#weather = weather;
    this.#break = breakOff;
    from.setNoDelay(true);
    from.on('data', (bytes) => this.#take(bytes));
    from.on('error', () => {});
    to.on('drain', () => this.#balance());
    this.#balance();
  }

  /** No more will come: what is held still leaves, unless the connection broke. */
  end(isBroken: boolean): void {
    this.#hasEnded = true;
    if (!isBroken && this.#pieces.length > 0) return;
    this.#stop();
    this.#to.destroy();
  }

  /** The weather has changed. */
  changed(): void {
    this.#stop();
    this.#flush();
  }

  #take(bytes: Buffer): void {
    this.#pieces.push({ bytes, dueAt: performance.now() + this.#weather.delayMs });
    this.#heldBytes += bytes.length;
    this.#flush();
  }

  #flush(): void {
    if (this.#timer === null && !this.#weather.frozen) this.#pass();
    this.#balance();
  }

  #pass(): void {
    const { bytesPerSecond, delayMs } = this.#weather;
    for (let head = this.#pieces[0]; head !== undefined; head = this.#pieces[0]) {
      const waitMs = delayMs === 0 ? 0 : head.dueAt - performance.now();
      if (waitMs > 0) {
        this.#later(waitMs);
        return;
      }
      const most =
        bytesPerSecond === null ? head.bytes.length : Math.ceil((bytesPerSecond * TICK_MS) / 1_000);
      this.#write(head.bytes.subarray(0, most));
      if (most < head.bytes.length) head.bytes = head.bytes.subarray(most);
      else this.#pieces.shift();
      if (bytesPerSecond !== null) {
        this.#later(TICK_MS);
        return;
      }
    }
    if (this.#hasEnded) this.#to.end();
  }

  #write(bytes: Buffer): void {
    this.#heldBytes -= bytes.length;
    if (this.#isBreaking) return;
    this.#isBreaking = this.#break !== null && this.#weather.breaksAt?.() === true;
    if (!this.#isBreaking) this.#to.write(bytes);
    else this.#to.write(bytes.subarray(0, bytes.length >> 1), () => this.#break?.());
  }

  #later(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#flush();
    }, ms);
  }

  #stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Takes no more than can leave. */
  #balance(): void {
    const isFull = this.#heldBytes > HELD_MAX_BYTES || this.#to.writableNeedDrain;
    if (isFull || this.#weather.frozen) this.#from.pause();
    else this.#from.resume();
  }
}
