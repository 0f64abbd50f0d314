import { type KeyboardEvent, type ReactNode, useId, useState } from 'react';

export type Tab = Readonly<{ id: string; label: ReactNode; panel: () => ReactNode }>;

type TabsProps = Readonly<{
  label: string;
  tabs: readonly Tab[];
  chosen?: string | undefined;
  onChoose?: (id: string) => void;
}>;

export function Tabs({ label, tabs, chosen: given, onChoose }: TabsProps) {
  const base = useId();
  const [own, setOwn] = useState(tabs[0]?.id);
  const chosen = onChoose === undefined ? own : given;
  const choose = (id: string | undefined): void => {
    if (id === undefined) return;
    if (onChoose === undefined) setOwn(id);
    else onChoose(id);
  };
  const at = Math.max(
    0,
    tabs.findIndex(({ id }) => id === chosen),
  );

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    const steps: Record<string, number> = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1 + tabs.length,
      Home: 0,
      End: tabs.length - 1,
    };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = step % tabs.length;
    choose(tabs[next]?.id);
    event.currentTarget.querySelectorAll<HTMLElement>('[role="tab"]')[next]?.focus();
  };

  return (
    <div className="tabs">
      <div role="tablist" aria-label={label} className="tablist" onKeyDown={onKeyDown}>
        {tabs.map((tab, index) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${base}-${tab.id}`}
            aria-selected={index === at}
            aria-controls={`${base}-panel`}
            tabIndex={index === at ? 0 : -1}
            className="tab"
            onClick={() => choose(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${base}-panel`}
        aria-labelledby={`${base}-${tabs[at]?.id}`}
        className="tabpanel"
      >
        {tabs[at]?.panel()}
      </div>
    </div>
  );
}

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
