import { randomInt } from 'node:crypto';

type Listener = Readonly<{ port: number; close(): Promise<void> }>;

/** How often a free port of the system's choice is tried, and then a pair below those. */
const TRIES_MAX = 25;
/**
 * Where the system takes no ports for outgoing connections (Linux: from 32768 up). It gives even ports to those and
 * odd ones to who listens on port 0, so on a machine with many connections every port after a free one is taken.
 */
const QUIET_PORTS = { from: 10_000, below: 32_000 };

const isRetryable = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EADDRINUSE' || code === 'ERR_SOCKET_BAD_PORT';
};

/**
 * Opens two doors on ports side by side, wherever two are free.
 * @param openFirst - on the port given; 0 is any free one.
 * @param openSecond - on the port after the first's.
 * @throws what the last try threw; nothing is open then.
 */
export async function openOnFreePorts<First extends Listener, Second>(
  openFirst: (port: number) => Promise<First>,
  openSecond: (port: number) => Promise<Second>,
): Promise<[First, Second]> {
  for (let attempt = 1; ; attempt++) {
    const port = attempt <= TRIES_MAX ? 0 : randomInt(QUIET_PORTS.from, QUIET_PORTS.below);
    try {
      return await openOnConsecutivePorts(port, openFirst, openSecond);
    } catch (error) {
      if (!isRetryable(error) || attempt === 2 * TRIES_MAX) throw error;
    }
  }
}

/** Opens two doors on ports side by side. @throws what either throws; nothing is open then. */
export async function openOnConsecutivePorts<First extends Listener, Second>(
  port: number,
  openFirst: (port: number) => Promise<First>,
  openSecond: (port: number) => Promise<Second>,
): Promise<[First, Second]> {
  const first = await openFirst(port);
  try {
    return [first, await openSecond(first.port + 1)];
  } catch (error) {
    await first.close();
    throw error;
  }
}
