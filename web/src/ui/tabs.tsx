import * as Radix from '@radix-ui/react-tabs';
import { type ReactNode, useEffect, useId, useRef } from 'react';

export type Tab = Readonly<{ id: string; label: ReactNode; panel: () => ReactNode }>;

type TabsProps = Readonly<{
  label: string;
  tabs: readonly Tab[];
  chosen?: string | undefined;
  onChoose?: (id: string) => void;
}>;

export function Tabs({ label, tabs, chosen, onChoose }: TabsProps) {
  const first = tabs[0]?.id ?? '';
  const isKnown = tabs.some(({ id }) => id === chosen);
  const state =
    onChoose === undefined
      ? { defaultValue: first }
      : { value: isKnown && chosen !== undefined ? chosen : first, onValueChange: onChoose };
  const list = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chosen tab may lie outside a narrow screen
  useEffect(() => {
    const tab = list.current?.querySelector<HTMLElement>('[data-state=active]');
    // scrollIntoView would also scroll the page.
    if (list.current !== null && tab != null)
      list.current.scrollLeft += tab.getBoundingClientRect().left - list.current.getBoundingClientRect().left;
  }, [chosen]);
  return (
    <Radix.Root className="tabs" {...state}>
      <Radix.List ref={list} aria-label={label} className="tablist">
        {tabs.map(({ id, label: title }) => (
          <Radix.Trigger key={id} value={id} className="tab">
            {title}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map(({ id, panel }) => (
        <Radix.Content key={id} value={id} className="tabpanel">
          <Panel panel={panel} />
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}

/** Rendered only while its tab is chosen. */
const Panel = ({ panel }: { panel: () => ReactNode }) => panel();

export function Choice<Value extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: readonly Readonly<{ value: Value; label: string }>[];
  value: Value;
  onChange: (value: Value) => void;
}) {
  const name = useId();
  return (
    <fieldset className="choice">
      <legend className="visually-hidden">{label}</legend>
      {options.map((option) => (
        <label key={option.value} className="choice-option">
          <input
            type="radio"
            name={name}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
