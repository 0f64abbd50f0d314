import { isIP } from 'node:net';

/**
 * An IPv4 address equals its IPv4-mapped IPv6 form (`::ffff:192.0.2.1`).
 * Sources: RFC 4291 §2.2 (text forms), RFC 5952 (canonical form).
 */
export type IpAddress = Readonly<{
  /** Canonical form: `192.0.2.1`, `2001:db8::1`. */
  text: string;
  /** 128 bits, highest word first. IPv4 addresses are in mapped form. */
  words: Words;
  /** Smallest range assigned to one customer: an IPv4 address or an IPv6 /64. */
  subnet: string;
}>;

type Words = readonly [number, number, number, number];

/** IPv4-mapped prefix. Source: RFC 4291 §2.5.5.2. */
const MAPPED = 0xffff;
const MAPPED_BITS = 96;
const ALL_BITS = 128;

/** Parses an address in any text form. A zone id after `%` is dropped. */
export function parseIpAddress(text: string): IpAddress | null {
  const family = isIP(text);
  if (family === 0) return null;
  const words = family === 4 ? ([0, 0, MAPPED, wordOf(text)] as const) : wordsOf(text);
  const isMapped = words[0] === 0 && words[1] === 0 && words[2] === MAPPED;
  if (isMapped) {
    const plain = dotted(words[3]);
    return { text: plain, words, subnet: plain };
  }
  const groups = groupsOf(words);
  const subnet = `${groups.slice(0, 4).map(hex).join(':')}::/64`;
  return { text: compressed(groups), words, subnet };
}

type Cidr = Readonly<{ words: Words; masks: Words }>;

const CIDR = /^([0-9a-fA-F.:]{2,45})(?:\/(\d{1,3}))?$/;

/**
 * Parses `192.0.2.0/24`, `2001:db8::/32` or a single address. Host bits are ignored. `::/0` contains every address,
 * `0.0.0.0/0` every IPv4 address.
 */
export function parseCidr(text: string): Cidr | null {
  const [, start = '', length] = CIDR.exec(text) ?? [];
  const address = parseIpAddress(start);
  if (address === null) return null;
  const isDotted = !start.includes(':');
  const bits = length === undefined ? ALL_BITS : Number(length) + (isDotted ? MAPPED_BITS : 0);
  if (bits > ALL_BITS) return null;
  const masks = [0, 1, 2, 3].map((at) => maskOf(bits - at * 32)) as unknown as Words;
  const words = address.words.map((word, at) => (word & (masks[at] as number)) >>> 0) as unknown as Words;
  return { words, masks };
}

/** Set of CIDR ranges. Lookups allocate nothing; invalid ranges are ignored. */
export class CidrSet {
  readonly #ranges: readonly Cidr[];

  constructor(texts: Iterable<string>) {
    this.#ranges = [...texts].map(parseCidr).filter((range) => range !== null);
  }

  get size(): number {
    return this.#ranges.length;
  }

  has({ words: [a, b, c, d] }: IpAddress): boolean {
    for (const { words, masks } of this.#ranges) {
      if ((d & masks[3]) >>> 0 !== words[3] || (c & masks[2]) >>> 0 !== words[2]) continue;
      if ((b & masks[1]) >>> 0 === words[1] && (a & masks[0]) >>> 0 === words[0]) return true;
    }
    return false;
  }
}

function maskOf(bits: number): number {
  if (bits <= 0) return 0;
  return bits >= 32 ? 0xffff_ffff : (0xffff_ffff << (32 - bits)) >>> 0;
}

const wordOf = (text: string): number =>
  text.split('.').reduce((word, part) => ((word << 8) | Number(part)) >>> 0, 0);

const dotted = (word: number): string =>
  `${word >>> 24}.${(word >>> 16) & 0xff}.${(word >>> 8) & 0xff}.${word & 0xff}`;

const hex = (group: number): string => group.toString(16);

function wordsOf(text: string): Words {
  const [plain = ''] = text.split('%');
  const [front = '', back] = plain.split('::');
  const first = groupsIn(front);
  const last = back === undefined ? [] : groupsIn(back);
  const zeros = new Array<number>(8 - first.length - last.length).fill(0);
  const groups = [...first, ...zeros, ...last];
  return [0, 2, 4, 6].map((at) => pair(groups[at], groups[at + 1])) as unknown as Words;
}

/** Parses 16-bit groups; a trailing dotted quad counts as two groups. */
function groupsIn(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const word = wordOf(group);
    return [word >>> 16, word & 0xffff];
  });
}

const pair = (high = 0, low = 0): number => ((high << 16) | low) >>> 0;

const groupsOf = (words: Words): number[] => words.flatMap((word) => [word >>> 16, word & 0xffff]);

/** Replaces the longest run of two or more zero groups with `::`; among equally long runs, the first. */
function compressed(groups: readonly number[]): string {
  let start = 0;
  let length = 1;
  for (let at = 0; at < groups.length; at++) {
    const end = groups.findIndex((group, index) => index >= at && group !== 0);
    const run = (end === -1 ? groups.length : end) - at;
    if (run > length) [start, length] = [at, run];
  }
  if (length < 2) return groups.map(hex).join(':');
  return `${groups.slice(0, start).map(hex).join(':')}::${groups
    .slice(start + length)
    .map(hex)
    .join(':')}`;
}

/** @returns the subnet of an address, or a text that is no address unchanged. */
export const subnetOf = (address: string): string => parseIpAddress(address)?.subnet ?? address;

/** @param host - name or address; an IPv6 address also in brackets. */
export const isLoopback = (host: string): boolean => /^(?:localhost|127\.[\d.]+|\[?::1\]?)$/.test(host);
