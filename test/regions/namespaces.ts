import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const LINK = join(import.meta.dirname, 'link.py');

function run(command: string): void {
  const { status, stderr } = spawnSync('sh', ['-ec', command], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command}: ${stderr}`);
}

const MARK = 'SOLWAY_IN_NAMESPACE';

/** Whether this process has network and mount namespaces of its own, which end with it. */
export const isInside = (): boolean => process.env[MARK] === '1';

/** Runs this program again in namespaces of its own. @returns its exit code, or why that is not possible. */
export function runInside(): number | string {
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  const probe = 'ip link set lo up && test -c /dev/net/tun && ip netns list && python3 --version';
  const { status, stderr } = spawnSync('unshare', ['--net', '--mount', 'sh', '-c', probe], {
    encoding: 'utf8',
  });
  if (status !== 0) return `network namespaces, iproute2, TUN devices or Python are missing: ${stderr}`;
  const command = [process.execPath, ...process.argv.slice(1)];
  const env = { ...process.env, [MARK]: '1' };
  return spawnSync('unshare', ['--net', '--mount', '--', ...command], { stdio: 'inherit', env }).status ?? 1;
}

export const ownNamespace = (): void =>
  run('mkdir -p /run/netns && mount -t tmpfs none /run/netns && ip link set lo up');

/**
 * A region: a network namespace with two lines to this process, whose namespace is the region of the database. Over
 * the near line, without delay, come the clients and the node of the region; the far one leads to the database.
 */
export class Region {
  readonly name: string;
  /** Of the gateway, for its clients. */
  readonly gatewayAddress: string;
  /** Of this process, as the node of the region. */
  readonly nodeAddress: string;
  /** Of this process, as database and Redis. */
  readonly databaseAddress: string;
  readonly #link: ChildProcess;

  private constructor(number: number, link: ChildProcess) {
    this.name = `region-${number}`;
    this.gatewayAddress = `10.77.${number}.2`;
    this.nodeAddress = `10.77.${number}.1`;
    this.databaseAddress = `10.78.${number}.1`;
    this.#link = link;
  }

  static async create(number: number): Promise<Region> {
    const [near, far] = [`near-${number}`, `far-${number}`];
    const link = spawn('python3', [LINK, far, `${far}-peer`], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(link.stdout, 'data');
    const region = new Region(number, link);
    const { name } = region;
    run(`ip netns add ${name}; ip -n ${name} link set lo up
      ip link add ${near} type veth peer name ${near}-peer netns ${name}
      ip link set ${far}-peer netns ${name}`);
    for (const [device, network] of [
      [near, '10.77'],
      [far, '10.78'],
    ]) {
      const addresses = [`${network}.${number}.1`, `${network}.${number}.2`];
      run(`ip addr add ${addresses[0]} peer ${addresses[1]} dev ${device}; ip link set ${device} up
        ip -n ${name} addr add ${addresses[1]} peer ${addresses[0]} dev ${device}-peer
        ip -n ${name} link set ${device}-peer up`);
    }
    return region;
  }

  /** @param roundTripMs - of the far line. */
  delay(roundTripMs: number): void {
    this.#link.stdin?.write(`${roundTripMs / 2}\n`);
  }

  /** Loses all packets of the far line. Neither end notices, as with a broken cable. */
  cut(): void {
    this.#link.stdin?.write('cut\n');
  }

  close(): void {
    this.#link.stdin?.end();
  }
}
