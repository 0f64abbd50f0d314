import { Failure } from '../../protocol/errors.ts';
import { reflectionPaths } from '../../protocol/grpc/reflection.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';
import {
  type GeyserHandler,
  type StreamRpc,
  type UnaryRpc,
  unaryRpcs,
} from '../../streams/geyser/geyser-handler.ts';
import {
  type CallHandlerFactory,
  type CallPeer,
  type GrpcCallHandler,
  UnaryCall,
  withRelease,
} from './call-handler.ts';
import type { GrpcServerOptions } from './options.ts';
import { checkHealth, HealthWatch, type IsServing, ReflectionCall } from './standard-services.ts';
import { PingTails, SubscribeCall } from './subscribe-call.ts';

const streamPaths: Readonly<Record<StreamRpc, string>> = {
  Subscribe: '/geyser.Geyser/Subscribe',
  SubscribeDeshred: '/geyser.Geyser/SubscribeDeshred',
  SubscribeEntries: '/shredstream.ShredstreamProxy/SubscribeEntries',
};

export class Services {
  readonly #handler: GeyserHandler;
  readonly #health: IsServing;
  readonly #options: GrpcServerOptions;
  readonly #pings: PingTails;
  readonly #keyless: KeylessStreams;
  readonly #factories = new Map<string, CallHandlerFactory>();
  readonly #unary: Permits = { inUse: 0 };
  /** Health checks need no key and have their own limit. */
  readonly #checks: Permits = { inUse: 0 };
  readonly #streams: Permits = { inUse: 0 };

  constructor(handler: GeyserHandler, health: IsServing, options: GrpcServerOptions) {
    this.#handler = handler;
    this.#health = health;
    this.#options = options;
    this.#pings = new PingTails(options.pingIntervalMs);
    this.#keyless = new KeylessStreams(options);
    this.#serveGeyser();
    this.#serveHealth();
    this.#serveReflection();
  }

  get streams(): number {
    return this.#streams.inUse;
  }

  messageMaxBytes(path: string): number {
    const { messageMaxBytes, smallMessageMaxBytes } = this.#options;
    return Object.values(streamPaths).includes(path)
      ? messageMaxBytes
      : Math.min(messageMaxBytes, smallMessageMaxBytes);
  }

  find(path: string): CallHandlerFactory | undefined {
    return this.#factories.get(path);
  }

  #serveGeyser(): void {
    for (const rpc of Object.keys(streamPaths) as StreamRpc[]) {
      this.#factories.set(streamPaths[rpc], (peer) => {
        const createCall = () => new SubscribeCall(peer, rpc, this.#handler, this.#pings);
        return startLimited(this.#streams, this.#options.streamsMax, createCall);
      });
    }
    for (const rpc of unaryRpcs) this.#serveUnary(rpc);
  }

  /** Admits the caller before the request is read. */
  #serveUnary(rpc: UnaryRpc): void {
    this.#factories.set(`/geyser.Geyser/${rpc}`, (peer) => {
      this.#handler.admit(peer, rpc);
      const respond = (request: Uint8Array) => this.#handler.unary(peer, rpc, request);
      return this.#startUnary(this.#unary, () => new UnaryCall(peer, respond));
    });
  }

  #serveHealth(): void {
    const service = '/grpc.health.v1.Health';
    const check = async (request: Uint8Array) => checkHealth(request, this.#health);
    this.#factories.set(`${service}/Check`, (peer) =>
      this.#startUnary(this.#checks, () => new UnaryCall(peer, check)),
    );
    const watch = this.#keyless.wrap((peer) => new HealthWatch(peer, this.#health));
    this.#factories.set(`${service}/Watch`, watch);
  }

  #serveReflection(): void {
    const reflect = this.#keyless.wrap((peer) => new ReflectionCall(peer));
    for (const path of reflectionPaths) this.#factories.set(path, reflect);
  }

  #startUnary(permits: Permits, createHandler: () => GrpcCallHandler): GrpcCallHandler {
    return startLimited(permits, this.#options.unaryInFlightMax, createHandler);
  }
}

type Permits = { inUse: number };

/** @throws Failure OVERLOADED, or whatever `createHandler` throws. */
function startLimited(permits: Permits, max: number, createHandler: () => GrpcCallHandler): GrpcCallHandler {
  if (permits.inUse >= max) throw new Failure('OVERLOADED');
  const handler = createHandler();
  permits.inUse += 1;
  return withRelease(handler, () => {
    permits.inUse -= 1;
  });
}

type Limits = Pick<
  GrpcServerOptions,
  'keylessStreamsMax' | 'keylessStreamsPerConnectionMax' | 'keylessStreamMaxMs'
>;

/** Limits the number and age of streams without a key, so that they cannot use up capacity for customers' streams. */
export class KeylessStreams {
  readonly #limits: Limits;
  readonly #byConnection = new WeakMap<object, number>();
  #open = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  wrap(createHandler: (peer: CallPeer) => GrpcCallHandler): CallHandlerFactory {
    return (peer) => {
      const { keylessStreamsMax, keylessStreamsPerConnectionMax, keylessStreamMaxMs } = this.#limits;
      const isFull = this.#open >= keylessStreamsMax;
      if (isFull || this.#countOf(peer.connection) >= keylessStreamsPerConnectionMax) {
        throw new Failure('OVERLOADED');
      }
      const endsAtMs = performance.now() + keylessStreamMaxMs;
      const handler = createHandler(peer);
      const tick = handler.tick?.bind(handler);
      handler.tick = (nowMs) => {
        if (nowMs < endsAtMs) tick?.(nowMs);
        else peer.fail(new GrpcError('UNAVAILABLE', 'Maximum stream age reached. Open a new stream.'));
      };
      this.#count(peer.connection, 1);
      return withRelease(handler, () => this.#count(peer.connection, -1));
    };
  }

  #countOf(connection: object): number {
    return this.#byConnection.get(connection) ?? 0;
  }

  #count(connection: object, by: 1 | -1): void {
    this.#open += by;
    this.#byConnection.set(connection, this.#countOf(connection) + by);
  }
}
