import { Failure } from '../../protocol/errors.ts';
import { readSingleField } from '../../protocol/geyser/fields.ts';
import { ProtobufReader } from '../../protocol/geyser/protobuf.ts';
import { ProtobufWriter } from '../../protocol/geyser/protobuf-writer.ts';
import { handleReflection } from '../../protocol/grpc/reflection.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';
import { type CallPeer, type GrpcCallHandler, NO_FILTER_NAMES, requestCountError } from './call-handler.ts';

/** `''` stands for the whole server. Source: grpc.health.v1, health.proto. */
export const servedServices = ['', 'geyser.Geyser', 'shredstream.ShredstreamProxy'] as const;
export type ServedService = (typeof servedServices)[number];

export type IsServing = (service: ServedService) => boolean;

/** Source: grpc.health.v1, health.proto, `ServingStatus`. */
const SERVING = 1;
const NOT_SERVING = 2;
const SERVICE_UNKNOWN = 3;

const isServed = (service: string): service is ServedService =>
  servedServices.some((served) => served === service);

const readService = (request: Uint8Array): string =>
  readSingleField(new ProtobufReader(request), (reader) => reader.string(), '');

const writeStatus = (status: number): Uint8Array => new ProtobufWriter().uint32(1, status).finish();

function statusOf(service: string, isServing: IsServing): number {
  if (!isServed(service)) return SERVICE_UNKNOWN;
  return isServing(service) ? SERVING : NOT_SERVING;
}

/** @throws GrpcError NOT_FOUND for an unknown service. */
export function checkHealth(request: Uint8Array, isServing: IsServing): Uint8Array {
  const status = statusOf(readService(request), isServing);
  if (status === SERVICE_UNKNOWN) throw new GrpcError('NOT_FOUND', 'unknown service');
  return writeStatus(status);
}

/** Sends the status of a service immediately and after each change. */
export class HealthWatch implements GrpcCallHandler {
  readonly isEndless = true;
  readonly #peer: CallPeer;
  readonly #isServing: IsServing;
  #service: string | null = null;
  #lastStatus: number | null = null;

  constructor(peer: CallPeer, isServing: IsServing) {
    this.#peer = peer;
    this.#isServing = isServing;
    peer.open();
  }

  get needsRequest(): boolean {
    return this.#service === null;
  }

  onMessages(messages: readonly Buffer[]): void {
    if (messages.length === 0) return;
    if (this.#service !== null || messages.length > 1) throw requestCountError();
    this.#service = readService(messages[0] as Buffer);
    this.#report();
  }

  onHalfClose(): void {
    if (this.#service === null) throw requestCountError();
  }

  onClose(): void {}

  tick(): void {
    this.#report();
  }

  #report(): void {
    if (this.#service === null) return;
    const status = statusOf(this.#service, this.#isServing);
    if (status !== this.#lastStatus) this.#peer.outbox.push(NO_FILTER_NAMES, writeStatus(status));
    this.#lastStatus = status;
  }
}

/** A reflection stream ends if more response bytes than this are unsent. */
const WAITING_MAX_BYTES = 1024 * 1024;

export class ReflectionCall implements GrpcCallHandler {
  readonly isEndless = true;
  /** Always true, so that the request timeout applies between requests. */
  readonly needsRequest = true;
  readonly #peer: CallPeer;

  constructor(peer: CallPeer) {
    this.#peer = peer;
    peer.open();
  }

  onMessages(messages: readonly Buffer[]): void {
    for (const message of messages) {
      if (this.#peer.outbox.waitingBytes > WAITING_MAX_BYTES) throw new Failure('OVERLOADED');
      this.#peer.outbox.push(NO_FILTER_NAMES, handleReflection(message));
    }
  }

  onHalfClose(): void {
    this.#peer.complete();
  }

  onClose(): void {}
}
