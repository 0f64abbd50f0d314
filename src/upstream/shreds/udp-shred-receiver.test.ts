import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../base/log.ts';
import type { shredLimits, UdpShredsConfig } from './shreds-config.ts';
import { sendersOf, UdpShredReceiver } from './udp-shred-receiver.ts';

async function started(config: Partial<UdpShredsConfig> = {}, limits: Partial<typeof shredLimits> = {}) {
  const packets: Buffer[] = [];
  const lines: string[] = [];
  let onReceived: (() => void) | null = null;
  const udp = new UdpShredReceiver({
    config: { host: '127.0.0.1', port: 0, senders: [], ...config },
    limits: { receiveBufferBytes: 65_536, ...limits },
    log: createLogger('info', (line) => lines.push(line)),
    onPacket: (bytes) => {
      packets.push(bytes);
      onReceived?.();
    },
  });
  await udp.start();
  onTestFinished(() => udp.close());
  const received = async (count: number): Promise<Buffer[]> => {
    while (packets.length < count) await new Promise<void>((resolve) => (onReceived = resolve));
    return packets;
  };
  return { udp, packets, received, lines };
}

function sender(address = '127.0.0.1'): Promise<Socket> {
  const socket = createSocket('udp4').bind(0, address);
  onTestFinished(() => void socket.close());
  return once(socket, 'listening').then(() => socket);
}

const send = (socket: Socket, port: number, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) =>
    socket.send(bytes, port, '127.0.0.1', (error) => (error === null ? resolve() : reject(error))),
  );

describe('UdpShredReceiver', () => {
  it('receives packets of several senders in separate buffers', async () => {
    const { udp, received } = await started();
    const { port } = udp.address!;
    const senders = await Promise.all([sender(), sender(), sender()]);
    for (let i = 0; i < 30; i++) await send(senders[i % 3]!, port, new Uint8Array(1_203).fill(i));
    const packets = await received(30);
    expect(packets.map(([first]) => first).sort((a, b) => a! - b!)).toEqual([...Array(30).keys()]);
    for (const packet of packets) expect(packet.every((byte) => byte === packet[0])).toBe(true);
    expect(udp.packets).toBe(30);
  });

  it('accepts only listed senders', async () => {
    const { udp, received, packets } = await started({ senders: ['127.0.0.2', '127.1.0.0/16'] });
    const { port } = udp.address!;
    const [unlisted, listed, inListedNetwork] = await Promise.all([
      sender('127.0.0.1'),
      sender('127.0.0.2'),
      sender('127.1.2.3'),
    ]);
    await send(unlisted!, port, Uint8Array.of(1));
    await send(listed!, port, Uint8Array.of(2));
    await send(inListedNetwork!, port, Uint8Array.of(3));
    await received(2);
    expect(packets.map(([first]) => first)).toEqual([2, 3]);
    expect(udp.unknownSenderPackets).toBe(1);
  });

  it.each(['nobody', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/8/8', '::1/129', '10.0.0/8', ''])(
    'rejects the sender %j',
    (entry) => {
      expect(() => sendersOf([entry])).toThrow(RangeError);
    },
  );

  it('accepts senders of both address families', () => {
    const senders = sendersOf(['2001:db8::/32', '::1', '10.0.0.0/8']);
    expect(senders.check('2001:db8:1::5', 'ipv6')).toBe(true);
    expect(senders.check('::1', 'ipv6')).toBe(true);
    expect(senders.check('10.255.0.1')).toBe(true);
    expect(senders.check('11.0.0.1')).toBe(false);
  });
});
