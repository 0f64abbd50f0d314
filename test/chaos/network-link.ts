import type { Socket } from 'node:net';

export type LinkFault = {
  /** Whether nothing is forwarded and nothing closed. */
  frozen: boolean;
  delayMs: number;
  /** Throughput of each connection in each direction; null for no limit. */
  bytesPerSecond: number | null;
  /** Decides whether to reset the connection within a chunk of a response; null for never. */
  breaksAt: (() => boolean) | null;
};

/** Reading stops above this number of buffered bytes. */
const HELD_MAX_BYTES = 1024 * 1024;
const TICK_MS = 20;

type Chunk = { bytes: Buffer; readonly dueAt: number };

export class NetworkLink {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #fault: LinkFault;
  readonly #break: (() => void) | null;
  readonly #chunks: Chunk[] = [];
  #heldBytes = 0;
  #timer: NodeJS.Timeout | null = null;
  #hasEnded = false;
  /** Whether a reset follows the last write. */
  #isBreaking = false;

  /** @param breakOff - resets the connection within a response; null for the direction of requests. */
  constructor(from: Socket, to: Socket, fault: LinkFault, breakOff: (() => void) | null) {
    this.#from = from;
    this.#to = to;
    this.#fault = fault;
    this.#break = breakOff;
    from.setNoDelay(true);
    from.on('data', (bytes) => this.#take(bytes));
    from.on('error', () => {});
    from.on('end', () => {
      this.#hasEnded = true;
      this.#flush();
    });
    to.on('drain', () => this.#balance());
    this.#balance();
  }

  /** Handles the end of the source: buffered data is still sent, unless the connection broke. */
  end(isBroken: boolean): void {
    this.#hasEnded = true;
    if (!isBroken && this.#chunks.length > 0) return;
    this.#stop();
    if (isBroken) this.#to.destroy();
    else this.#to.destroySoon();
  }

  changed(): void {
    this.#stop();
    this.#flush();
  }

  #take(bytes: Buffer): void {
    this.#chunks.push({ bytes, dueAt: performance.now() + this.#fault.delayMs });
    this.#heldBytes += bytes.length;
    this.#flush();
  }

  #flush(): void {
    if (this.#timer === null && !this.#fault.frozen) this.#pass();
    this.#balance();
  }

  #pass(): void {
    const { bytesPerSecond, delayMs } = this.#fault;
    for (let head = this.#chunks[0]; head !== undefined; head = this.#chunks[0]) {
      const waitMs = delayMs === 0 ? 0 : head.dueAt - performance.now();
      if (waitMs > 0) {
        this.#later(waitMs);
        return;
      }
      const most =
        bytesPerSecond === null ? head.bytes.length : Math.ceil((bytesPerSecond * TICK_MS) / 1_000);
      this.#write(head.bytes.subarray(0, most));
      if (most < head.bytes.length) head.bytes = head.bytes.subarray(most);
      else this.#chunks.shift();
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
    this.#isBreaking = this.#break !== null && this.#fault.breaksAt?.() === true;
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

  #balance(): void {
    const isFull = this.#heldBytes > HELD_MAX_BYTES || this.#to.writableNeedDrain;
    if (isFull || this.#fault.frozen) this.#from.pause();
    else this.#from.resume();
  }
}
