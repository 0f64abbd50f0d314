import { describe, expect, it } from 'vitest';
import { openOnFreePorts } from './find-free-ports.ts';

const taken = (): Error => Object.assign(new Error('taken'), { code: 'EADDRINUSE' });

/** A machine with some ports in use. */
function machine(
  isTaken: (port: number) => boolean,
  isTakenAtFirst: (tries: number) => boolean = () => false,
) {
  const open = new Set<number>();
  let tries = 0;
  const listen = async (port: number) => {
    if (isTaken(port)) throw taken();
    open.add(port);
    return { port, close: async () => void open.delete(port) };
  };
  // Like Linux: port 0 gives an odd ephemeral port.
  const listenFirst = async (port: number) => {
    if (isTakenAtFirst(++tries)) throw taken();
    return listen(port === 0 ? 32_769 + 2 * (tries % 14_000) : port);
  };
  return { open, listen, listenFirst };
}

describe('a free pair of ports', () => {
  it('is found when connections use every port after a free one', async () => {
    const { open, listen, listenFirst } = machine((port) => port >= 32_768 && port % 2 === 0);
    const [first, second] = await openOnFreePorts(listenFirst, listen);
    expect(second.port).toBe(first.port + 1);
    expect([...open]).toEqual([first.port, second.port]);
  });

  it('is found although another program took the first port', async () => {
    const { listen, listenFirst } = machine(
      () => false,
      (tries) => tries === 1,
    );
    const [first, second] = await openOnFreePorts(listenFirst, listen);
    expect(second.port).toBe(first.port + 1);
  });

  it('fails when there is none, and nothing stays open', async () => {
    const { open, listen, listenFirst } = machine((port) => port % 2 === 0);
    await expect(openOnFreePorts(listenFirst, listen)).rejects.toThrow('taken');
    expect(open.size).toBe(0);
  });

  it('is not retried on another error', async () => {
    const { open, listenFirst } = machine(() => false);
    const denied = Object.assign(new Error('denied'), { code: 'EACCES' });
    let tries = 0;
    const refuse = async () => {
      tries++;
      throw denied;
    };
    await expect(openOnFreePorts(listenFirst, refuse)).rejects.toBe(denied);
    expect([tries, open.size]).toEqual([1, 0]);
  });
});
