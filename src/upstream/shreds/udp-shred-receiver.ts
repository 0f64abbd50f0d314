import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, BlockList, isIP, isIPv6 } from 'node:net';
import { Lru } from '../../base/cache/lru.ts';
import type { Logger } from '../../base/log.ts';
import type { ShredLimits, UdpShredsConfig } from './shreds-config.ts';

type UdpShredReceiverOptions = Readonly<{
  config: UdpShredsConfig;
  limits: Pick<ShredLimits, 'receiveBufferBytes'>;
  log: Logger;
  /** One packet, whatever it holds: memory of its own, never modified afterwards. */
  onPacket: (bytes: Buffer) => void;
}>;

/** Addresses of this machine itself. */
const LOOPBACK = /^(?:127\.|::1$|localhost$)/;

/** Senders whose judgement is remembered. */
const SENDERS_CACHED_MAX = 1_024;

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4');

/**
 * The addresses and networks that a list names.
 * @throws RangeError for one that is neither.
 */
export function sendersOf(list: readonly string[]): BlockList {
  const senders = new BlockList();
  for (const entry of list) {
    const [address = '', prefix, ...rest] = entry.split('/');
    const bitsMax = isIPv6(address) ? 128 : 32;
    const bits = prefix === undefined ? bitsMax : /^\d{1,3}$/.test(prefix) ? Number(prefix) : bitsMax + 1;
    if (isIP(address) === 0 || bits > bitsMax || rest.length > 0) {
      throw new RangeError('a sender of shreds is an IP address or a network such as 10.0.0.0/8');
    }
    senders.addSubnet(address, bits, familyOf(address));
  }
  return senders;
}

/** A UDP socket that shreds come in through, from as many senders as like to. */
export class UdpShredReceiver {
  readonly #options: UdpShredReceiverOptions;
  readonly #senders: BlockList | null;
  readonly #allowedCache = new Lru<string, boolean>(SENDERS_CACHED_MAX);
  #socket: Socket | null = null;
  /** Packets that were handed on. */
  packets = 0;
  /** Packets of senders that are not on the list. */
  rejected = 0;

  /** @throws RangeError for a list of senders that is none. */
  constructor(options: UdpShredReceiverOptions) {
    this.#options = options;
    const { senders } = options.config;
    this.#senders = senders.length === 0 ? null : sendersOf(senders);
  }

  /** Where it listens; null while it does not. */
  get address(): AddressInfo | null {
    return this.#socket?.address() ?? null;
  }

  /**
   * Begins to listen.
   * @throws what the socket says, such as EADDRINUSE.
   */
  async start(): Promise<void> {
    const { config, limits, log } = this.#options;
    const type = isIPv6(config.host) ? 'udp6' : 'udp4';
    const socket = createSocket({ type, recvBufferSize: limits.receiveBufferBytes });
    socket.on('message', (bytes, sender) => this.#handlePacket(bytes, sender));
    socket.bind(config.port, config.host);
    try {
      // `once` rejects with the socket's error.
      await once(socket, 'listening');
    } catch (error) {
      socket.close();
      throw error;
    }
    socket.on('error', (error) => log.warn({ reason: error.message }, 'the socket of shreds has an error'));
    this.#socket = socket;
    this.#warnSmallBuffer(socket);
  }

  /** Listens no more. Harmless when it does not. */
  async close(): Promise<void> {
    const socket = this.#socket;
    this.#socket = null;
    if (socket === null) return;
    const closed = once(socket, 'close');
    socket.close();
    await closed;
  }

  /** The kernel grants what its own limit allows, and says nothing. Linux counts its bookkeeping in, twice over. */
  #warnSmallBuffer(socket: Socket): void {
    const { config, limits, log } = this.#options;
    const granted = socket.getRecvBufferSize() / (process.platform === 'linux' ? 2 : 1);
    if (granted >= limits.receiveBufferBytes) return;
    const sizes = { requestedBytes: limits.receiveBufferBytes, grantedBytes: granted };
    const message = 'the kernel holds fewer shreds than wanted: raise net.core.rmem_max';
    // From next door comes little, and nobody who only tries the program should be sent to the kernel's settings.
    if (LOOPBACK.test(config.host)) log.info(sizes, message);
    else log.warn(sizes, message);
  }

  #handlePacket(bytes: Buffer, { address }: RemoteInfo): void {
    if (!this.#isAllowed(address)) {
      this.rejected++;
      return;
    }
    this.packets++;
    this.#options.onPacket(bytes);
  }

  #isAllowed(address: string): boolean {
    if (this.#senders === null) return true;
    const cached = this.#allowedCache.get(address);
    if (cached !== undefined) return cached;
    const isAllowed = this.#senders.check(address, familyOf(address));
    this.#allowedCache.set(address, isAllowed);
    return isAllowed;
  }
}
