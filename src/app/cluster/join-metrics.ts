type Family = { readonly head: readonly string[]; readonly samples: string[] };

const SAMPLE = /^([A-Za-z_:][A-Za-z0-9_:]*)(\{)?/;

function labelled(sample: string, worker: number): string {
  return sample.replace(SAMPLE, (_, name: string, brace?: string) =>
    brace === undefined ? `${name}{worker="${worker}"}` : `${name}{worker="${worker}",`,
  );
}

function readPage(page: string, worker: number, families: Map<string, Family>): void {
  let head: string[] = [];
  let family: Family = { head: [], samples: [] };
  for (const line of page.split('\n')) {
    if (line.startsWith('# HELP ')) head = [line];
    else if (line.startsWith('# TYPE ')) {
      const name = line.split(' ')[2] ?? '';
      family = families.get(name) ?? { head: [...head, line], samples: [] };
      families.set(name, family);
    } else if (line !== '') family.samples.push(labelled(line, worker));
  }
}

/** Joins the metrics of all workers and adds a `worker` label. @param own - the primary's metrics, without a label. */
export function joinMetrics(pages: ReadonlyMap<number, string>, own: string): string {
  const families = new Map<string, Family>();
  for (const [worker, page] of pages) readPage(page, worker, families);
  const lines = [...families.values()].flatMap(({ head, samples }) => [...head, ...samples]);
  return `${lines.join('\n')}\n${own}`;
}
