import type { KeyRecord } from '../../access/key-record.ts';
import type { UsageStatus } from '../../access/usage.ts';
import type { Failure } from '../../protocol/errors.ts';
import { InvalidProtobuf } from '../../protocol/geyser/protobuf.ts';
import { type GrpcCall, grpcCalls } from '../../protocol/grpc/calls.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';
import type { Product } from '../../protocol/product.ts';
import { explain, statusOfFailure } from '../outcome.ts';
import type { GeyserGateParts } from './gate-parts.ts';

/** A call, the opening of a stream or a request on one, until it is counted. */
export class MeteredCall {
  /** Whose it is, once that is known. */
  key: KeyRecord | null = null;
  readonly #parts: GeyserGateParts;
  readonly #product: Product;
  readonly #method: GrpcCall;
  readonly #bytesIn: number;
  readonly #startedAt = performance.now();

  constructor(parts: GeyserGateParts, product: Product, method: GrpcCall, bytesIn: number) {
    this.#parts = parts;
    this.#product = product;
    this.#method = method;
    this.#bytesIn = bytesIn;
  }

  /** Counts it as answered. */
  succeed(bytesOut = 0): void {
    this.#record('ok', bytesOut, grpcCalls[this.#method]);
  }

  /**
   * Counts it as refused.
   * @returns what is to be thrown: a status of the wire's own, or that a request is no message, as it is; else a row of
   * ours.
   */
  refuse(thrown: unknown): GrpcError | InvalidProtobuf | Failure {
    if (thrown instanceof GrpcError || thrown instanceof InvalidProtobuf) {
      this.#record('rpcError', 0, grpcCalls[this.#method]);
      return thrown;
    }
    const failure = explain(thrown);
    if (failure.code === 'INTERNAL') {
      const about = { err: failure.cause, keyId: this.key?.id, method: this.#method };
      this.#parts.log.error(about, 'a gRPC call went wrong');
    }
    this.#record(statusOfFailure(failure), 0, 0);
    return failure;
  }

  #record(status: UsageStatus, bytesOut: number, credits: number): void {
    const latencyMicros = (performance.now() - this.#startedAt) * 1000;
    const counted = { status, bytesIn: this.#bytesIn, bytesOut, credits, latencyMicros };
    const product = this.key?.product ?? this.#product;
    this.#parts.usage.record({ ...counted, key: this.key, product, method: this.#method }, Date.now());
  }
}
