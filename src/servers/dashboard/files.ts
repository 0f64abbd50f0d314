import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { acceptedCodings } from '../compression.ts';

/** Encodings that the build produces, smallest output first. */
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;
type Encoding = (typeof encodings)[number][0];

export type DashboardFile = Readonly<{
  type: string;
  bytes: Buffer;
  encoded: Readonly<Partial<Record<Encoding, Buffer>>>;
  tag: string;
  isImmutable: boolean;
}>;

/** `docs` holds the documentation by path: `/docs`, `/docs/reference/keys`, and its search index. */
export type DashboardFiles = Readonly<{
  page: DashboardFile;
  assets: ReadonlyMap<string, DashboardFile>;
  docs: ReadonlyMap<string, DashboardFile>;
}>;

const PAGE = 'dashboard.html';
const ASSETS = 'assets';
const DOCS = 'docs';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
};

const HASHED = /-[A-Za-z0-9_-]{8}\.[a-z]+$/;

function readFile(folder: string, name: string): DashboardFile | null {
  const type = types[extname(name)];
  if (type === undefined) return null;
  const bytes = readFileSync(join(folder, name));
  const encoded: Partial<Record<Encoding, Buffer>> = {};
  for (const [encoding, end] of encodings) {
    const path = join(folder, name + end);
    if (existsSync(path)) encoded[encoding] = readFileSync(path);
  }
  const tag = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { type, bytes, encoded, tag, isImmutable: HASHED.test(name) };
}

function readDocs(folder: string): Map<string, DashboardFile> {
  const docs = new Map<string, DashboardFile>();
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = readFile(folder, name);
    const path = name.replace(/(?:(?:^|\/)index)?\.html$/, '');
    if (file !== null) docs.set(path === '' ? `/${DOCS}` : `/${DOCS}/${path}`, file);
  }
  return docs;
}

/** Loads the output of `npm run build:web`. @returns null if the output is missing or incomplete. */
export function readDashboard(folder: string): DashboardFiles | null {
  try {
    const page = readFile(folder, PAGE);
    if (page === null) return null;
    const assets = new Map<string, DashboardFile>();
    for (const name of readdirSync(join(folder, ASSETS))) {
      const file = readFile(join(folder, ASSETS), name);
      if (file !== null) assets.set(`/${ASSETS}/${name}`, file);
    }
    return { page, assets, docs: readDocs(join(folder, DOCS)) };
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw thrown;
  }
}

/** Returns null if the file must be sent uncompressed. */
export function encodingFor(file: DashboardFile, accepted: string | undefined): Encoding | null {
  const acceptedEncodings = acceptedCodings(accepted ?? '');
  for (const [encoding] of encodings)
    if (acceptedEncodings.has(encoding) && file.encoded[encoding] !== undefined) return encoding;
  return null;
}
