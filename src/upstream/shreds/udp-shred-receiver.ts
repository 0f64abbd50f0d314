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
  /** The buffer is not shared and is never modified afterwards. */
  onPacket: (bytes: Buffer) => void;
}>;

const LOOPBACK = /^(?:127\.|::1$|localhost$)/;

const SENDERS_CACHED_MAX = 1_024;

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4');

/** @throws RangeError for an invalid entry. */
export function sendersOf(list: readonly string[]): BlockList {
  const senders = new BlockList();
  for (const entry of list) {
    const [address = '', prefix, ...rest] = entry.split('/');
    const bitsMax = isIPv6(address) ? 128 : 32;
    const bits = prefix === undefined ? bitsMax : /^\d{1,3}$/.test(prefix) ? Number(prefix) : bitsMax + 1;
    if (isIP(address) === 0 || bits > bitsMax || rest.length > 0) {
      throw new RangeError('invalid shred sender: use an IP address or a network such as 10.0.0.0/8');
    }
    senders.addSubnet(address, bits, familyOf(address));
  }
  return senders;
}

export class UdpShredReceiver {
  readonly #options: UdpShredReceiverOptions;
  readonly #senders: BlockList | null;
  readonly #allowedCache = new Lru<string, boolean>(SENDERS_CACHED_MAX);
  #socket: Socket | null = null;
  packets = 0;
  unknownSenderPackets = 0;

  constructor(options: UdpShredReceiverOptions) {
    this.#options = options;
    const { senders } = options.config;
    this.#senders = senders.length === 0 ? null : sendersOf(senders);
  }

  get address(): AddressInfo | null {
    return this.#socket?.address() ?? null;
  }

  /** @throws socket errors such as EADDRINUSE. */
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
    socket.on('error', (error) => log.warn({ reason: error.message }, 'Shred socket error'));
    this.#socket = socket;
    this.#warnSmallBuffer(socket);
  }

  async close(): Promise<void> {
    const socket = this.#socket;
    this.#socket = null;
    if (socket === null) return;
    const closed = once(socket, 'close');
    socket.close();
    await closed;
  }

  /** The kernel limits the size silently. Linux reports twice the usable size. */
  #warnSmallBuffer(socket: Socket): void {
    const { config, limits, log } = this.#options;
    const granted = socket.getRecvBufferSize() / (process.platform === 'linux' ? 2 : 1);
    if (granted >= limits.receiveBufferBytes) return;
    const sizes = { requestedBytes: limits.receiveBufferBytes, grantedBytes: granted };
    const message = 'UDP receive buffer smaller than requested; raise net.core.rmem_max';
    // Loopback carries little traffic, so a small buffer suffices.
    if (LOOPBACK.test(config.host)) log.info(sizes, message);
    else log.warn(sizes, message);
  }

  #handlePacket(bytes: Buffer, { address }: RemoteInfo): void {
    if (!this.#isAllowed(address)) {
      this.unknownSenderPackets++;
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
