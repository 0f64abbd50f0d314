import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { Logger } from '../../../../src/base/log.ts';

/** "host:port"; IPv6 in brackets. */
export type ShredTarget = Readonly<{ host: string; port: number }>;

type ShredSenderOptions = Readonly<{
  targets: readonly ShredTarget[];
  log: Logger;
  /** Maximum queued bytes per target; further packets are dropped. */
  queueMaxBytes?: number;
  /** Maximum queued deferred packets; further ones are dropped. */
  deferredMaxPackets?: number;
}>;

/** `now`: passed to the system before `send` returns. `soon`: sent at a limited rate. */
type Urgency = 'now' | 'soon';
export type SendShreds = (packets: readonly Uint8Array[], urgency: Urgency) => void;

export type ShredSender = Readonly<{ send: SendShreds; close(): Promise<void> }>;

/**
 * Deferred packets per millisecond. Receive buffers hold at least about 90 packets; half of that is reserved for urgent
 * packets.
 */
const PACE_PACKETS = 8;
const PACE_MS = 1;

/** Minimum milliseconds between warnings about dropped packets. */
const WARN_PAUSE_MS = 10_000;

async function connect({ host, port }: ShredTarget): Promise<Socket> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  // Connecting the socket avoids a name lookup per packet.
  socket.connect(port, host);
  await once(socket, 'connect');
  return socket;
}

/** Sends to one UDP target; lost packets are not resent. */
class TargetSender {
  readonly #socket: Socket;
  readonly #queueMaxBytes: number;
  readonly #drops: DropCounter;

  constructor(socket: Socket, queueMaxBytes: number, warn: (dropped: number) => void) {
    this.#socket = socket;
    this.#queueMaxBytes = queueMaxBytes;
    this.#drops = new DropCounter(warn);
    // Such as ECONNREFUSED while no receiver is listening.
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

/** Counts dropped packets and warns at a limited rate. */
class DropCounter {
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

/** Queue of deferred packets, sent at a limited rate. */
class DeferredQueue {
  readonly #max: number;
  readonly #send: (packets: readonly Uint8Array[]) => void;
  readonly #drops: DropCounter;
  #packets: Uint8Array[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(max: number, send: (packets: readonly Uint8Array[]) => void, warn: (dropped: number) => void) {
    this.#max = max;
    this.#send = send;
    this.#drops = new DropCounter(warn);
  }

  add(packets: readonly Uint8Array[]): void {
    const accepted = packets.slice(0, Math.max(0, this.#max - this.#packets.length));
    this.#packets.push(...accepted);
    this.#drops.add(packets.length - accepted.length);
    this.#timer ??= setTimeout(() => this.#next(), PACE_MS);
  }

  /** Sends the remaining packets at once. */
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

/** @throws the system's error for an unknown host. */
export async function openShredSender(options: ShredSenderOptions): Promise<ShredSender> {
  const { targets, log, queueMaxBytes = 8 * 1024 * 1024, deferredMaxPackets = 16_384 } = options;
  const senders: TargetSender[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(senders.map((sender) => sender.close()));
  };
  try {
    for (const target of targets) {
      const warn = (dropped: number) =>
        log.warn({ ...target, dropped }, 'shred target queue full; dropped packets');
      senders.push(new TargetSender(await connect(target), queueMaxBytes, warn));
    }
  } catch (error) {
    await close();
    throw error;
  }
  const sendNow = (packets: readonly Uint8Array[]): void => {
    for (const sender of senders) sender.send(packets);
  };
  const deferred = new DeferredQueue(deferredMaxPackets, sendNow, (dropped) =>
    log.warn({ dropped }, 'deferred shred queue full; dropped packets'),
  );
  return {
    send: (packets, urgency) => (urgency === 'now' ? sendNow(packets) : deferred.add(packets)),
    close: async () => {
      deferred.end();
      await close();
    },
  };
}
