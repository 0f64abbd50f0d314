import { createServer } from 'node:net';

/** The port is another program's. */
export class PortTakenError extends Error {
  constructor(host: string, port: number, option: string) {
    super(`port ${port} of ${host} is taken: stop what listens there, or choose another with ${option}`);
    this.name = 'PortTakenError';
  }
}

/** Takes the port and gives it back. @throws what listening throws. */
export function listenOnce(host: string, port: number): Promise<void> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => server.close(() => resolve()));
  });
}

/**
 * Looks whether the port can be had before anything slow is started.
 * @param option - with which another is chosen.
 * @throws PortTakenError
 */
export async function checkPortFree(host: string, port: number, option: string): Promise<void> {
  try {
    await listenOnce(host, port);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw new PortTakenError(host, port, option);
    throw error;
  }
}
