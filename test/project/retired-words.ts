/**
 * Words that the project no longer uses, by the wording rule of CONTRIBUTING.md (Rules). The standard term is named
 * where it is not obvious from the context.
 */

/** Not in any text or identifier. */
const anywhere = [
  'told', // observed, emitted, reported, notified
  'tells',
  'teller',
  'asker', // ResponseHandler
  'asked', // requested, sent
  'asks',
  'heard', // received
  'hearer',
  'seat', // KeyState
  'seats',
  'wish', // requested filters
  'wishes',
  'lent', // pooled
  'whoever',
  'anew',
  'journey', // request flow
  'journeys',
];

/** Not in identifiers and file names, but ordinary English elsewhere. */
const inNames = [
  'ask',
  'asking',
  'tell',
  'door',
  'doors',
  'walk',
  'floor',
  'floors',
  'kept',
  'house',
  'fate',
  ...['hear', 'hears', 'hearing', 'room', 'rooms', 'visits', 'turnstile', 'abilities', 'telling'],
  ...['walks', 'walking', 'insight', 'lately'],
];

const phrases = [
  'went wrong',
  'gives way',
  'gave way',
  'goes by',
  'is away',
  'are away',
  'the house',
  'stands in for',
];

const allowed = [
  /\bMath\.floor\b/g,
  // Names of columns, API fields, options and metrics, which remain unchanged.
  /\b(?:fate(?:_slot|_err)?|told_at|asked_at|keptHours|operatorTailsReserved|kept_answers)\b/g,
  /auction[-_ ]?house/gi,
  /click[-_ ]?house/gi,
];

const retiredAnywhere = new Set(anywhere);
const retiredInNames = new Set([...anywhere, ...inNames]);
const PHRASES = new RegExp(`\\b(?:${phrases.join('|')})\\b`, 'gi');

/** Comments, string literals and identifiers of TypeScript, in this order of preference. */
const TOKENS =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|[A-Za-z_$][\w$]*/g;
/** Text between two tags. */
const JSX_TEXT = />[^<>{}();=]*</g;
const isIdentifier = (token: string): boolean => /^[\w$]/.test(token);

const wordsOf = (text: string): string[] =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z]+/)
    .map((word) => word.toLowerCase());

const without = (text: string): string => allowed.reduce((rest, pattern) => rest.replace(pattern, ''), text);

function retiredIn(text: string, retired: ReadonlySet<string>): string[] {
  return wordsOf(text).filter((word) => retired.has(word));
}

export const retiredInPath = (path: string): string[] => retiredIn(without(path), retiredInNames);

/** Retired words in a file, once per use. Identifiers are checked more strictly than text. */
export function retiredInFile(path: string, content: string): string[] {
  const text = without(content);
  const found = [...(text.match(PHRASES) ?? []), ...retiredIn(text, retiredAnywhere)];
  if (!/\.tsx?$/.test(path)) return found;
  const code = path.endsWith('.tsx') ? text.replace(JSX_TEXT, '><') : text;
  const identifiers = (code.match(TOKENS) ?? []).filter(isIdentifier);
  return [...found, ...identifiers.flatMap((name) => retiredIn(name, new Set(inNames)))];
}
