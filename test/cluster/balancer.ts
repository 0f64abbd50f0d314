import { TcpProxy } from '../chaos/tcp-proxy.ts';

type Backend = Readonly<{ name: string; http: number; grpc: number }>;

/** Interval and timeout of readiness checks. */
const LOOK_MS = 100;
const LOOK_TIMEOUT_MS = 1_000;

export class Balancer {
  readonly #backends: Backend[] = [];
  #ready: Backend[] = [];
  #proxies: TcpProxy[] = [];
  #next = 0;
  #timer: NodeJS.Timeout | null = null;

  /** @returns the listening ports. */
  async listen(): Promise<Readonly<{ httpPort: number; grpcPort: number }>> {
    const target = (protocol: 'http' | 'grpc') => () =>
      this.#ready[this.#next++ % Math.max(1, this.#ready.length)]?.[protocol] ?? null;
    const [http, grpc] = [await TcpProxy.start(target('http')), await TcpProxy.start(target('grpc'))];
    this.#proxies = [http, grpc];
    this.#timer = setInterval(() => void this.checkAll(), LOOK_MS);
    return { httpPort: http.port, grpcPort: grpc.port };
  }

  get ready(): readonly string[] {
    return this.#ready.map(({ name }) => name);
  }

  async add(name: string, http: number, grpc: number): Promise<void> {
    this.#backends.push({ name, http, grpc });
    await this.checkAll();
  }

  remove(name: string): void {
    const at = this.#backends.findIndex((backend) => backend.name === name);
    if (at >= 0) this.#backends.splice(at, 1);
  }

  async checkAll(): Promise<void> {
    const checked = await Promise.all(this.#backends.map(({ http }) => isReady(http)));
    this.#ready = this.#backends.filter((_, at) => checked[at]);
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
  }
}

async function isReady(port: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(LOOK_TIMEOUT_MS);
    const response = await fetch(`http://127.0.0.1:${port}/ready`, { signal });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}
