import { z } from 'zod';
import { parseCidr } from '../base/ip-address.ts';
import { nearestName } from './camel-case.ts';
import { showUrl, showValue } from './secrets.ts';

/**
 * The kinds of values a configuration has. Each says in its own words what is wrong and what to write instead.
 */

/** An hour in milliseconds. */
export const HOUR_MS = 3_600_000;
/** 2^20 bytes. */
export const MIB = 1024 * 1024;

/** A whole number with its range. */
export const whole = (min: number, max: number) =>
  z.custom<number>(
    (value) => typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max,
    { error: ({ input }) => `${showValue(input)} is not a whole number from ${min} to ${max}` },
  );

/** A part of a whole. */
export const share = z.custom<number>((value) => typeof value === 'number' && value >= 0 && value <= 1, {
  error: ({ input }) => `${showValue(input)} is not a number from 0 to 1`,
});

/** One of a few words. */
export const oneOf = <const Allowed extends readonly string[]>(allowed: Allowed) =>
  z.custom<Allowed[number]>((value) => typeof value === 'string' && allowed.includes(value), {
    error: ({ input }) => `${showValue(input)} is not one of ${allowed.map((one) => `"${one}"`).join(', ')}`,
  });

/** Text of a pattern; `rule` completes "must be". */
export const text = (pattern: RegExp, rule: string) =>
  z.custom<string>((value) => typeof value === 'string' && pattern.test(value), {
    error: ({ input }) => `${showValue(input)} must be ${rule}`,
  });

/** A host to listen on: pattern and rule of `text`. */
export const HOST = [
  /^[A-Za-z0-9.:_-]{1,255}$/,
  'a host name or address such as "127.0.0.1" or "0.0.0.0"',
] as const;

/** What logs call a node. */
export const nodeName = text(
  /^[A-Za-z0-9._-]{1,64}$/,
  'a name of 1 to 64 letters, digits, dots, dashes or underscores',
);

/** A path, or other text of one line. */
export const anything = text(/^\P{Cc}{1,4096}$/u, 'text of 1 to 4096 characters');

/** Schemes of what requests are made of here. */
const WEB = /^(?:http|ws)s?:$/;

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** What no request can be made of though it parses as a URL; null: nothing. */
function faultOfWebUrl({ protocol, username, password, href }: URL): string | null {
  if (!WEB.test(protocol)) return null;
  if (href.includes('#')) return 'has a fragment, which no server is told: leave out "#" and what follows it';
  if (isDecodable(username) && isDecodable(password)) return null;
  return 'has a "%" in its user name or password that begins no escape: write "%" itself as "%25"';
}

/** How errors call a URL, and one as it should be. */
type UrlDescription = Readonly<{ kind: string; example: string }>;

/** What is wrong with it; null: nothing. */
function faultOfUrl(
  value: unknown,
  {
    schemes,
    allowed,
    kind,
    example,
  }: Readonly<{ schemes: readonly string[]; allowed: readonly string[] } & UrlDescription>,
): string | null {
  const wrong = `is not ${kind}: write it as "${example}"`;
  if (typeof value !== 'string') return wrong;
  if (allowed.includes(value)) return null;
  const parsed = URL.parse(value);
  if (parsed === null || !schemes.includes(parsed.protocol) || parsed.hostname === '') return wrong;
  return faultOfWebUrl(parsed);
}

/**
 * A URL of one of the schemes. The value may hold a key, so of a wrong one only scheme and host are shown.
 * @param kind - how errors call it: `an http(s) URL`.
 * @param words - what may stand there instead.
 */
export const url = (
  schemes: readonly string[],
  kind: string,
  example: string,
  allowed: readonly string[] = [],
) => {
  const faultOf = (value: unknown): string | null => faultOfUrl(value, { schemes, allowed, kind, example });
  return z.custom<string>((value) => faultOf(value) === null, {
    error: ({ input }) => {
      if (input === undefined) return `is missing: write it as "${example}"`;
      const display =
        typeof input === 'string'
          ? input.includes('://')
            ? `"${showUrl(input)}"`
            : 'the value'
          : showValue(input);
      return `${display} ${faultOf(input)}`;
    },
  });
};

/** A URL of http or https. */
export const httpUrl = url(['http:', 'https:'], 'an http(s) URL', 'https://host/path');

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;

/** One line of Latin-1. */
const HEADER_VALUE = /^[\x20-\x7e\xa0-\xff]{0,8192}$/;

/** Header values are credentials more often than not, so they are never shown. */
export const headers = z
  .record(
    z.string(),
    z.custom<string>((value) => typeof value === 'string' && HEADER_VALUE.test(value), {
      error: 'the value is not text of one line in Latin-1, as headers are: write other letters encoded',
    }),
    { error: 'is not a table: write it as headers = { "x-token" = "env:TOKEN" }' },
  )
  .refine((table) => Object.keys(table).every((name) => HEADER_NAME.test(name)), {
    error: 'one of the names is not the name of an HTTP header',
  });

/** A range of addresses, or one. */
export const cidr = z.custom<string>((value) => typeof value === 'string' && parseCidr(value) !== null, {
  error: ({ input }) =>
    `${showValue(input)} must be an address or a range such as "10.0.0.0/8" or "fd00::/8"`,
});

/** A list of one kind of values, at most so many. */
export const list = <Kind extends z.ZodType>(
  kind: Kind,
  most: number,
  example: string,
  absent: readonly z.output<Kind>[],
) =>
  z
    .array(kind, { error: `is not a list: write ${example}` })
    .max(most, { error: `has more than ${most}` })
    .default([...absent]);

/** True or false. */
export const onOff = z.custom<boolean>((value) => typeof value === 'boolean', {
  error: ({ input }) => `${showValue(input)} is not true or false`,
});

/** True, false or "auto". */
export const switchOrAuto = z.custom<boolean | 'auto'>(
  (value) => typeof value === 'boolean' || value === 'auto',
  { error: ({ input }) => `${showValue(input)} is not true, false or "auto"` },
);

/** A whole number with its range, or "auto". */
export const wholeOrAuto = (min: number, max: number) =>
  z.custom<number | 'auto'>((value) => value === 'auto' || whole(min, max).safeParse(value).success, {
    error: ({ input }) => `${showValue(input)} is not a whole number from ${min} to ${max} or "auto"`,
  });

const METHOD_NAME = /^[A-Za-z0-9_./-]{1,64}$/;

/** Credits of single methods and endpoints, by name. */
export const methodPrices = z
  .record(z.string(), whole(0, 1_000_000), {
    error: 'is not a table: write it as prices = { getProgramAccounts = 10 }',
  })
  .refine((table) => Object.keys(table).every((name) => METHOD_NAME.test(name)), {
    error:
      'one of the names is not the name of a method: they are as docs/reference/json-rpc.md and docs/reference/rest.md have them',
  });

function unknownField(name: string, fields: readonly string[]): string {
  const nearest = nearestName(name, fields);
  return nearest === null
    ? `there is no such field: the fields here are ${fields.join(', ')}`
    : `there is no such field: did you mean "${nearest}"?`;
}

/** The text of an `unrecognized_keys` issue, one per name; the reader splits it. */
export const UNKNOWN_FIELDS_SEPARATOR = '\n';

/** A table with these fields and no others. */
export const section = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((name) => unknownField(name, Object.keys(shape))).join(UNKNOWN_FIELDS_SEPARATOR)
        : `${showValue(issue.input)} stands where a table belongs`,
  });
