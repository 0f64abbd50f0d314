import type { AddressInfo } from 'node:net';
import type { Logger } from '../../base/log.ts';
import type { GeyserDoor } from '../../streams/geyser/geyser-door.ts';
import type { HealthFacts } from './health.ts';
import { type GrpcServerOptions, type GrpcTls, grpcServerOptions } from './options.ts';

/** What a server of gRPC stands between. */
export type GrpcServerParts = Readonly<{ door: GeyserDoor; health: HealthFacts; log: Logger }>;

/** gRPC over HTTP/2: `geyser.Geyser`, `shredstream.ShredstreamProxy`, health and reflection. */
export class GrpcServer {
  readonly #options: GrpcServerOptions;
  readonly #parts: GrpcServerParts;

  constructor(parts: GrpcServerParts, options: Partial<GrpcServerOptions> = {}) {
    this.#parts = parts;
    this.#options = { ...grpcServerOptions, ...options };
  }

  /** Streams that are open. */
  get streams(): number {
    return 0;
  }

  /** Connections that are open. */
  get connections(): number {
    return 0;
  }

  /** Begins to listen. @returns the address, with the port that was taken. */
  async listen(): Promise<AddressInfo> {
    throw new Error(`not there yet: ${this.#options.host} ${typeof this.#parts}`);
  }

  /** Connections from now on get this certificate. @throws Error when it cannot be read, or the server has no TLS. */
  reloadTls(_tls: GrpcTls): void {}

  /**
   * Stops without dropping anything: health says no from now on; after `noticeMs`, in which load balancers can take
   * notice, nothing new is accepted, connections are told so (GOAWAY), streams end with UNAVAILABLE, and calls under
   * way and what waits for clients have `graceMs` to leave; then what is left is cut.
   * @returns whether nothing had to be cut. Asked again, the same drain.
   */
  async drain(
    _graceMs = this.#options.drainGraceMs,
    _noticeMs = this.#options.drainNoticeMs,
  ): Promise<boolean> {
    return true;
  }

  /** Cuts every connection and stops listening. */
  async close(): Promise<void> {}
}
