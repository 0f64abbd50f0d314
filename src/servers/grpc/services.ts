import { Failure } from '../../protocol/errors.ts';
import { reflectionPaths } from '../../protocol/grpc/reflection.ts';
import {
  type GeyserDoor,
  type StreamRpc,
  type UnaryRpc,
  unaryRpcs,
} from '../../streams/geyser/geyser-door.ts';
import type { CallHandler, CallMaker, CallPeer } from './call-handler.ts';
import { CountedCall } from './counted-call.ts';
import type { HealthFacts } from './health.ts';
import { checkHealth, HealthWatch } from './health-calls.ts';
import { KeylessStreams } from './keyless-streams.ts';
import type { GrpcServerOptions } from './options.ts';
import { PingTails } from './ping-tails.ts';
import { ReflectionCall } from './reflection-call.ts';
import { SubscribeCall } from './subscribe-call.ts';
import { UnaryCall } from './unary-call.ts';

const streamPaths: Readonly<Record<StreamRpc, string>> = {
  Subscribe: '/geyser.Geyser/Subscribe',
  SubscribeDeshred: '/geyser.Geyser/SubscribeDeshred',
  SubscribeEntries: '/shredstream.ShredstreamProxy/SubscribeEntries',
};

/** What the server serves, by paths, and how much of it at a time. */
export class Services {
  readonly #door: GeyserDoor;
  readonly #health: HealthFacts;
  readonly #options: GrpcServerOptions;
  readonly #pings: PingTails;
  readonly #keyless: KeylessStreams;
  readonly #makers = new Map<string, CallMaker>();
  #streams = 0;
  /** Calls with a key, and those of health without: none of these keeps places from those. */
  readonly #unary = { taken: 0 };
  readonly #checks = { taken: 0 };

  constructor(door: GeyserDoor, health: HealthFacts, options: GrpcServerOptions) {
    this.#door = door;
    this.#health = health;
    this.#options = options;
    this.#pings = new PingTails(options.pingIntervalMs);
    this.#keyless = new KeylessStreams(options);
    this.#serveGeyser();
    this.#serveHealth();
    this.#serveReflection();
  }

  /** Streams that are open, but for those that need no key. */
  get streams(): number {
    return this.#streams;
  }

  /** Bytes of one request to a path. */
  messageMaxBytes(path: string): number {
    const { messageMaxBytes, smallMessageMaxBytes } = this.#options;
    return Object.values(streamPaths).includes(path)
      ? messageMaxBytes
      : Math.min(messageMaxBytes, smallMessageMaxBytes);
  }

  /** What answers calls of a path; undefined when nothing does. */
  find(path: string): CallMaker | undefined {
    return this.#makers.get(path);
  }

  #serveGeyser(): void {
    for (const rpc of Object.keys(streamPaths) as StreamRpc[]) {
      this.#stream(streamPaths[rpc], (peer) => new SubscribeCall(peer, rpc, this.#door, this.#pings));
    }
    for (const rpc of unaryRpcs) this.#serveUnary(rpc);
  }

  /** Who may not call is told so before anything of the request is read. */
  #serveUnary(rpc: UnaryRpc): void {
    this.#makers.set(`/geyser.Geyser/${rpc}`, (peer) => {
      this.#door.admit(peer, rpc);
      const answer = (request: Uint8Array) => this.#door.unary(peer, rpc, request);
      return this.#answer(this.#unary, () => new UnaryCall(peer, answer));
    });
  }

  #serveHealth(): void {
    const service = '/grpc.health.v1.Health';
    const check = async (request: Uint8Array) => checkHealth(request, this.#health);
    this.#makers.set(`${service}/Check`, (peer) =>
      this.#answer(this.#checks, () => new UnaryCall(peer, check)),
    );
    const watch = this.#keyless.maker((peer) => new HealthWatch(peer, this.#health));
    this.#makers.set(`${service}/Watch`, watch);
  }

  #serveReflection(): void {
    const reflect = this.#keyless.maker((peer) => new ReflectionCall(peer));
    for (const path of reflectionPaths) this.#makers.set(path, reflect);
  }

  /** A call with one answer, which has a place from its headers on. @param places - how many of its kind have one. */
  #answer(places: { taken: number }, make: () => CallHandler): CallHandler {
    if (places.taken >= this.#options.unaryInFlightMax) throw new Failure('OVERLOADED');
    const handler = make();
    places.taken += 1;
    return new CountedCall(handler, () => {
      places.taken -= 1;
    });
  }

  #stream(path: string, make: (peer: CallPeer) => CallHandler): void {
    this.#makers.set(path, (peer) => {
      if (this.#streams >= this.#options.streamsMax) throw new Failure('OVERLOADED');
      const handler = make(peer);
      this.#streams += 1;
      return new CountedCall(handler, () => {
        this.#streams -= 1;
      });
    });
  }
}
