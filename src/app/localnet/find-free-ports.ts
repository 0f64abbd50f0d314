import { randomInt } from 'node:crypto';

type Listener = Readonly<{ port: number; close(): Promise<void> }>;

/** Number of attempts with ports chosen by the system, followed by the same number with random lower ports. */
const TRIES_MAX = 25;
/**
 * Ports below the ephemeral range (Linux: from 32768). Linux gives even ephemeral ports to connections and odd ports to
 * listeners on port 0. With many connections, the port after such a listener's port is thus always in use.
 */
const QUIET_PORTS = { from: 10_000, below: 32_000 };

const isRetryable = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EADDRINUSE' || code === 'ERR_SOCKET_BAD_PORT';
};

/** Opens two listeners on consecutive free ports. @throws the last error; neither listener stays open. */
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

/** Opens two listeners on consecutive ports. If either fails, neither stays open. */
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
