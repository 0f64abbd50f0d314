import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProgram } from '../../bench/rpc/processes.ts';
import { metricFamilies } from '../project/metric-families.ts';
import { read, root } from '../project/pages.ts';
import { rowsOfBlock } from '../project/reference-blocks.ts';
import { temporaryFolder } from '../service/program.ts';

type Panel = Readonly<{ title: string; targets: readonly Readonly<{ expr: string }>[] }>;
type Dashboard = Readonly<{
  uid: string;
  panels: readonly Panel[];
  templating: Readonly<{ list: readonly Readonly<{ name: string; type: string; query: string }>[] }>;
}>;

const FOLDER = 'packaging/grafana/dashboards';
const dashboards = readdirSync(join(root, FOLDER)).map((name) => ({
  name,
  ...(JSON.parse(read(`${FOLDER}/${name}`)) as Dashboard),
}));
const rules = read('packaging/prometheus/alerts.yaml');
const ruleExpressions = [...rules.matchAll(/^ {8}expr: (?:\|\n((?: {10}.*\n)+)|(.*)\n)/gm)].map(
  ([, block, line]) => (block ?? line ?? '').trim(),
);

/** PromQL of panels and variables, with Grafana's variables replaced. */
const queriesOf = ({ panels, templating }: Dashboard): string[] =>
  [
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...templating.list
      .filter(({ type }) => type === 'query')
      .map(({ query }) => query.replace(/^label_values\((.*), (\w+)\)$/, 'count by ($2) ($1)')),
  ].map((query) => query.replaceAll(/\$__(?:rate_interval|range)/g, '5m').replaceAll(/\$(\w+)/g, '.*'));

const all = [
  { file: 'alerts.yaml', queries: ruleExpressions },
  ...dashboards.map((dashboard) => ({ file: dashboard.name, queries: queriesOf(dashboard) })),
];

/** Labels that Prometheus adds, and that of worker processes. */
const ADDED_LABELS = ['job', 'instance', 'worker'];
const labelsOf = new Map(
  rowsOfBlock('docs/reference/metrics.md', 'metrics').map(([name = '', , , labels = '']) => [
    name.replaceAll('`', ''),
    [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
  ]),
);

const familyOf = (name: string): string => {
  const isSeries = metricFamilies.some((family) => family.name === name);
  return isSeries ? name : name.replace(/_(?:bucket|sum|count)$/, '');
};

/** Metrics with the labels they are selected by. */
const selectorsIn = (query: string) =>
  [...query.matchAll(/\b((?:solway|process)_\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', labels = '']) => ({
    name: familyOf(name),
    labels: [...labels.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label),
  }));

describe('dashboards and alert rules', () => {
  it('are found', () => {
    expect(ruleExpressions).toHaveLength([...rules.matchAll(/- alert:/g)].length);
    expect(ruleExpressions.length).toBeGreaterThan(10);
    expect(dashboards.map(({ uid }) => uid).sort()).toEqual(
      ['keys', 'nodes', 'overview', 'streams'].map((name) => `solway-${name}`),
    );
  });

  it.each(all)('use only metrics and labels of the service: $file', ({ queries }) => {
    const selectors = queries.flatMap(selectorsIn);
    expect(selectors.length).toBeGreaterThan(5);
    const known = new Set(metricFamilies.map(({ name }) => name));
    expect(selectors.filter(({ name }) => !known.has(name))).toEqual([]);
    const wrong = selectors.filter(({ name, labels }) =>
      labels.some((label) => ![...ADDED_LABELS, ...(labelsOf.get(name) ?? [])].includes(label)),
    );
    expect(wrong).toEqual([]);
  });
});

const promtool = findProgram('promtool');

describe.skipIf(promtool === null)('promtool (skipped where Prometheus is not installed)', () => {
  const folder = join(root, 'packaging/prometheus');
  const run = (...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync(promtool!, args, { cwd: folder, encoding: 'utf8' });
    return status === 0 ? '' : `${stdout}${stderr}`;
  };

  it('accepts the scrape configuration and the rules', () => {
    expect(run('check', 'config', '--syntax-only', 'prometheus.yaml')).toBe('');
    expect(run('check', 'rules', 'alerts.yaml')).toBe('');
  });

  it('passes the tests of the rules, of which every rule has one', () => {
    expect(run('test', 'rules', 'alerts.test.yaml')).toBe('');
    const tested = read('packaging/prometheus/alerts.test.yaml');
    const names = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
    expect(names.filter((name) => !tested.includes(`alertname: ${name}\n`))).toEqual([]);
  });

  it.each(dashboards)('accepts the queries of the dashboard $name', (dashboard) => {
    const recorded = queriesOf(dashboard).map((expr, at) => ({ record: `query:${at}`, expr }));
    const file = join(temporaryFolder('queries'), 'rules.yaml');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'queries', rules: recorded }] }));
    expect(run('check', 'rules', file)).toBe('');
  });
});
