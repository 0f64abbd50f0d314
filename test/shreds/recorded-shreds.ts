import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Shreds recorded from other implementations. */
const folder = join(import.meta.dirname, '../../../shared/data/shreds');

/** Tests that need the recordings are skipped without them. */
export const hasRecordedShreds = existsSync(folder);

const read = (file: string): Uint8Array =>
  hasRecordedShreds ? Uint8Array.from(readFileSync(join(folder, file))) : new Uint8Array();

const FILE_HEADER_BYTES = 24;
const RECORD_HEADER_BYTES = 16;
/** Ethernet, IPv4 and UDP. */
const PACKET_HEADERS_BYTES = 42;

function packetsOf(pcap: Uint8Array): Uint8Array[] {
  const view = new DataView(pcap.buffer);
  const packets: Uint8Array[] = [];
  for (let at = FILE_HEADER_BYTES; at < pcap.length; ) {
    const length = view.getUint32(at + 8, true);
    at += RECORD_HEADER_BYTES;
    packets.push(pcap.slice(at + PACKET_HEADERS_BYTES, at + length));
    at += length;
  }
  return packets;
}

/** 512 packets of slot 0: 8 chained sets of 32 data, then 32 code shreds; the last set is resigned. */
export const demoPackets: readonly Uint8Array[] = packetsOf(read('demo-shreds.pcap'));
export const DEMO_VERSION = 6051;

const AR_MAGIC_BYTES = 8;
const AR_HEADER_BYTES = 60;

function membersOf(archive: Uint8Array): Uint8Array[] {
  const members: Uint8Array[] = [];
  for (let at = AR_MAGIC_BYTES; at < archive.length; ) {
    const length = Number.parseInt(Buffer.from(archive.subarray(at + 48, at + 58)).toString('latin1'), 10);
    at += AR_HEADER_BYTES;
    members.push(archive.slice(at, at + length));
    at += length + (length & 1);
  }
  return members;
}

/** 8 legacy data shreds of slot 1, truncated after their payload: 64 entries without transactions. */
export const legacyPackets: readonly Uint8Array[] = membersOf(read('localnet-v14-slot1-shreds.ar'));
