import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Column indexes in /proc/net/udp. Source: Linux, net/ipv4/udp.c, `udp4_format_sock`. */
const INODE = 9;
const DROPS = 12;

function socketsOf(pid: number): Set<string> {
  const folder = `/proc/${pid}/fd`;
  const inodes = new Set<string>();
  for (const name of readdirSync(folder)) {
    try {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${name}`)) ?? [];
      if (inode !== undefined) inodes.add(inode);
    } catch {
      // The descriptor was closed in the meantime.
    }
  }
  return inodes;
}

/** Packets dropped by the kernel because the UDP socket buffers of a process were full. Linux only. */
export function udpDropsOf(pid: number): number {
  const inodes = socketsOf(pid);
  const rows = readFileSync(`/proc/${pid}/net/udp`, 'utf8').trim().split('\n').slice(1);
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter((columns) => inodes.has(columns[INODE] ?? ''))
    .reduce((sum, columns) => sum + Number(columns[DROPS]), 0);
}
