import { type KeyboardEvent, useId, useRef, useState } from 'react';

type Option = Readonly<{ id: string; name: string; note?: string }>;

/**
 * A select whose options are found by typing: a combobox with a list. Source: WAI-ARIA Authoring Practices, "Editable
 * Combobox With List Autocomplete".
 */
export function SearchSelect({
  label,
  all,
  chosen,
  options,
  hasMore,
  onSearch,
  onChoose,
}: {
  label: string;
  /** Text of the option without a filter. */
  all: string;
  chosen: Option | null;
  /** Options that match the text passed to `onSearch`. */
  options: readonly Option[];
  hasMore: boolean;
  onSearch: (text: string) => void;
  onChoose: (id: string | null) => void;
}) {
  const listId = useId();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState<string | null>(null);
  const [active, setActive] = useState(0);
  const isOpen = text !== null;
  const rows: readonly (Option | null)[] = [null, ...options];
  const search = (value: string): void => {
    setText(value);
    setActive(value === '' ? 0 : 1);
    onSearch(value.trim());
  };
  const close = (): void => {
    setText(null);
    onSearch('');
  };
  const choose = (option: Option | null): void => {
    close();
    onChoose(option?.id ?? null);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && isOpen) close();
    else if (event.key === 'Enter' && isOpen) choose(rows[active] ?? null);
    else if (event.key === 'ArrowDown' && !isOpen) search('');
    else if (event.key === 'ArrowDown') setActive(Math.min(rows.length - 1, active + 1));
    else if (event.key === 'ArrowUp' && isOpen) setActive(Math.max(0, active - 1));
    else return;
    event.preventDefault();
  };
  return (
    <div className="search-select">
      <input
        ref={input}
        className="input"
        role="combobox"
        aria-label={label}
        aria-expanded={isOpen}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={isOpen ? `${listId}-${active}` : undefined}
        autoComplete="off"
        placeholder={isOpen ? 'Name or prefix' : all}
        value={text ?? chosen?.name ?? ''}
        onChange={(event) => search(event.target.value)}
        onClick={() => isOpen || search('')}
        onBlur={() => isOpen && close()}
        onKeyDown={onKeyDown}
      />
      <div className="menu-list" hidden={!isOpen}>
        <div id={listId} role="listbox" aria-label={label}>
          {rows.map((row, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys
            <div
              key={row?.id ?? ''}
              id={`${listId}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={(row?.id ?? null) === (chosen?.id ?? null)}
              className="menu-item"
              data-highlighted={index === active ? '' : undefined}
              // Keeps the focus in the input, which would close the list.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => {
                choose(row);
                input.current?.blur();
              }}
            >
              {row?.name ?? all}
              {row?.note === undefined ? null : <span className="muted mono">{row.note}</span>}
            </div>
          ))}
        </div>
        {hasMore ? <p className="menu-head">Type to find more</p> : null}
      </div>
    </div>
  );
}
