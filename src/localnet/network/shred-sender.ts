import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { Logger } from '../../base/log.ts';

/** Where shreds go, as "host:port", an IPv6 address in brackets. */
export type ShredTarget = Readonly<{ host: string; port: number }>;

export type ShredSenderOptions = Readonly<{
  targets: readonly ShredTarget[];
  log: Logger;
  /** Bytes that may wait for the system to take them, for each target; beyond them packets are dropped. */
  queueMaxBytes?: number;
  /** Packets that may wait for their turn; beyond them the newest are dropped. */
  laterMaxPackets?: number;
}>;

/** `now`: they have left when this returns, as far as the system has room; `soon`: a few at a time. */
export type Urgency = 'now' | 'soon';
/** Takes shreds that are to leave. */
export type SendShreds = (packets: readonly Uint8Array[], urgency: Urgency) => void;

export type ShredSender = Readonly<{ send: SendShreds; close(): Promise<void> }>;

/**
 * Of what may wait, so many leave in a millisecond. A receiver's buffer has room for some 90 at the least, as systems
 * are set up, and what must not wait needs half of it.
 */
const PACE_PACKETS = 8;
const PACE_MS = 1;

/** Drops are told of at most this often. */
const WARN_PAUSE_MS = 10_000;

async function connect({ host, port }: ShredTarget): Promise<Socket> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  // Connected, so that no name is looked up for a packet, and each leaves at once.
  socket.connect(port, host);
  await once(socket, 'connect');
  return socket;
}

/** One target. Nobody answers: a packet that is lost is lost, as anywhere on UDP. */
class Way {
  readonly #socket: Socket;
  readonly #queueMaxBytes: number;
  readonly #drops: Drops;

  constructor(socket: Socket, queueMaxBytes: number, warn: (dropped: number) => void) {
    this.#socket = socket;
    this.#queueMaxBytes = queueMaxBytes;
    this.#drops = new Drops(warn);
    // Such as nobody listening there; whoever comes later gets what is sent then.
    socket.on('error', () => {});
  }

  send(packets: readonly Uint8Array[]): void {
    for (const packet of packets) {
      if (this.#socket.getSendQueueSize() > this.#queueMaxBytes) this.#drops.add(1);
      else this.#socket.send(packet, () => {});
    }
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#socket.close(() => resolve()));
  }
}

/** Tells how many packets were dropped so far, not too often. */
class Drops {
  readonly #warn: (dropped: number) => void;
  #dropped = 0;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(warn: (dropped: number) => void) {
    this.#warn = warn;
  }

  add(count: number): void {
    if (count === 0) return;
    this.#dropped += count;
    const now = performance.now();
    if (now - this.#warnedAt < WARN_PAUSE_MS) return;
    this.#warnedAt = now;
    this.#warn(this.#dropped);
  }
}

/** What waits for its turn. */
class Later {
  readonly #max: number;
  readonly #send: (packets: readonly Uint8Array[]) => void;
  readonly #drops: Drops;
  #packets: Uint8Array[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(max: number, send: (packets: readonly Uint8Array[]) => void, warn: (dropped: number) => void) {
    this.#max = max;
    this.#send = send;
    this.#drops = new Drops(warn);
  }

  add(packets: readonly Uint8Array[]): void {
    const taken = packets.slice(0, Math.max(0, this.#max - this.#packets.length));
    this.#packets.push(...taken);
    this.#drops.add(packets.length - taken.length);
    this.#timer ??= setTimeout(() => this.#next(), PACE_MS);
  }

  /** All that is left leaves at once. */
  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#send(this.#packets.splice(0));
  }

  #next(): void {
    this.#timer = null;
    this.#send(this.#packets.splice(0, PACE_PACKETS));
    if (this.#packets.length > 0) this.#timer = setTimeout(() => this.#next(), PACE_MS);
  }
}

/**
 * Opens a socket for each target.
 * @throws the system's error when a host is not known.
 */
export async function openShredSender(options: ShredSenderOptions): Promise<ShredSender> {
  const { targets, log, queueMaxBytes = 8 * 1024 * 1024, laterMaxPackets = 16_384 } = options;
  const ways: Way[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(ways.map((way) => way.close()));
  };
  try {
    for (const target of targets) {
      const warn = (dropped: number) => log.warn({ ...target, dropped }, 'shreds leave too slowly: dropped');
      ways.push(new Way(await connect(target), queueMaxBytes, warn));
    }
  } catch (error) {
    await close();
    throw error;
  }
  const sendNow = (packets: readonly Uint8Array[]): void => {
    for (const way of ways) way.send(packets);
  };
  const later = new Later(laterMaxPackets, sendNow, (dropped) =>
    log.warn({ dropped }, 'more shreds than may wait: dropped'),
  );
  return {
    send: (packets, urgency) => (urgency === 'now' ? sendNow(packets) : later.add(packets)),
    close: async () => {
      later.end();
      await close();
    },
  };
}
