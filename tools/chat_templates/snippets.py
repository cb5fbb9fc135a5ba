# SPDX-License-Identifier: Apache-2.0
"""Small templates, one for each thing that the language does, and the variables they see."""

import re

CONTEXT = {
    "n": 7, "z": 0, "neg": -3, "big": 18446744073709551615, "f": 2.5, "half": 0.5, "tiny": 1e-07,
    "huge": 1e+22, "t": True, "no": False, "nil": None, "s": "Hello World", "e": "",
    "sp": "  \t two words \n", "u": "Straße Ünïcode 日本 👍", "q": "it's \"q\"", "ml": "a\nb\n\nc\r\nd",
    "html": "<b>&'\"</b>", "l": [3, 1, 2], "le": [], "ls": ["b", "A", "c", "a"],
    "mixed": [1, "1", 1.0, True, None, [1], {"a": 1}],
    "d": {"b": 1, "a": 2, "items": 3, "C": [1, 2]}, "de": {},
    "users": [{"name": "Zoë", "age": 30, "tags": ["x"], "on": True},
              {"name": "adam", "age": 25, "tags": [], "on": False},
              {"name": "Bob", "age": 30, "on": True}],
    "nested": {"a": {"b": [{"c": "deep"}]}},
}

LITERALS = r"""
{{ 1 }}|{{ 0x1F }}|{{ 0b101 }}|{{ 0o17 }}|{{ 1_000 }}|{{ 00 }}
{{ 1.0 }}|{{ 1.5e3 }}|{{ 1e-7 }}|{{ 2E+2 }}|{{ 1_0.5 }}|{{ 1e16 }}|{{ 1e15 }}|{{ 0.0001 }}|{{ 0.00001 }}
{{ 123456789012345680.0 }}|{{ 0.1 + 0.2 }}|{{ 1e22 }}|{{ 1e21 }}|{{ 5e-324 }}|{{ 1.7976931348623157e308 }}
{{ 'a' "b" 'c' }}
{{ 'tab\there \x41 \u00e9 \101 \d \\ \' \"' }}
{{ "single ' quote" }}{{ 'double " quote' }}
{{ true }} {{ True }} {{ false }} {{ none }} {{ None }}
{{ [1, 'a', none, true, 1.5, []] }}
{{ (1,) }}{{ () }}{{ (1, 2) }}{{ 1, 2 }}
{{ {'a': 1, "b": [1], 3: none, 2.5: (1,)} }}
{{ {} }}{{ {'a': 1,} }}{{ [1, 2,] }}
{{ ['it\'s', "q\"q", 'b\'o"th', 'new\nline', '\t', '\\', 'é', '\u200d', '\x07', '\x7f', '\xa0'] }}
{{ ["👍", "👨‍👩‍👧"] }}
{{ 'a' 'b'|upper }}
{{ 1 }}{# comment {{ x }} #}{{ 2 }}
{{- 1 -}}   {{ 2 }}
{{ "}}" }}{{ '%}' }}{{ {'a': {'b': 1}} }}
{{ 08 }}
{{ 0x }}
{{ 1a }}
{{ 'open }}
{{ 1 +
2 }}
{{ "a
b" }}
{{ 12345678901234567890 }}
"""

OPERATORS = r"""
{{ 1 + 2 * 3 }}|{{ (1 + 2) * 3 }}|{{ 7 / 2 }}|{{ 8 / 2 }}|{{ 7 // 2 }}|{{ -7 // 2 }}|{{ 7 % 3 }}|{{ -7 % 3 }}
{{ 7 % -3 }}|{{ 7.5 % 2 }}|{{ -7.5 % 2 }}|{{ 7.5 // 2 }}|{{ -7.5 // 2 }}|{{ 7 // 2.0 }}|{{ -1.0 % 3 }}
{{ 2 ** 10 }}|{{ 2 ** 3 ** 2 }}|{{ 2 ** -1 }}|{{ 2 ** 0.5 }}|{{ -2 ** 2 }}|{{ (-2) ** 2 }}|{{ 2.0 ** 3 }}
{{ 2 ** 100 }}|{{ 10 ** 30 }}|{{ -(2 ** 64) }}
{{ 1 / 0 }}
{{ 1 % 0 }}
{{ 1 // 0.0 }}
{{ 0 ** -1 }}
{{ +n }}{{ -n }}{{ - -n }}{{ -f }}{{ +t }}{{ -t }}
{{ -s }}
{{ true + true }}|{{ true * 3 }}|{{ 1 + 1.0 }}|{{ 1 - 1.5 }}
{{ 'a' + 'b' }}|{{ 'ab' * 3 }}|{{ 3 * 'ab' }}|{{ 'a' * 0 }}|{{ 'a' * -1 }}|{{ 'a' * true }}
{{ 'a' + 1 }}
{{ 1 + 'a' }}
{{ 'a' + none }}
{{ none + 'a' }}
{{ [1] + [2] }}|{{ (1,) + (2,) }}|{{ [1, 2] * 2 }}|{{ 2 * (1,) }}
{{ [1] + (2,) }}
{{ 'a' - 'b' }}
{{ [1] - [1] }}
{{ {} + {} }}
{{ 'a' ~ 1 ~ none ~ 1.5 ~ [1] ~ true }}|{{ 1 ~ 2 }}|{{ missing ~ 'x' }}
{{ 1 ~ 2 + 3 }}|{{ 1 + 2 ~ 3 }}|{{ 'a' ~ 2 * 3 }}
{{ 1 < 2 }}|{{ 1 < 2 < 3 }}|{{ 1 < 3 < 2 }}|{{ 3 > 2 >= 2 }}|{{ 1 == 1.0 }}|{{ 1 == true }}|{{ '1' == 1 }}|{{ 1 != 2 }}
{{ 'a' < 'b' }}|{{ 'a' < 'B' }}|{{ 'é' > 'z' }}|{{ [1, 2] < [1, 3] }}|{{ [1] < [1, 0] }}|{{ (1, 2) >= (1, 2) }}
{{ 1 < 'a' }}
{{ none < 1 }}
{{ [1] < ['a'] }}
{{ {} < {} }}
{{ {'a': 1, 'b': 2} == {'b': 2, 'a': 1} }}|{{ [1, 2] == [1, 2.0] }}|{{ [1] == (1,) }}|{{ none == none }}|{{ none == false }}
{{ missing == missing2 }}|{{ missing == none }}|{{ missing != '' }}
{{ 1 in [1, 2] }}|{{ 3 not in [1, 2] }}|{{ 'a' in 'cat' }}|{{ '' in 'x' }}|{{ 'b' in d }}|{{ 1 in d }}|{{ 1.0 in [1] }}|{{ 'x' in missing }}
{{ 1 in 'a' }}
{{ 'a' in 1 }}
{{ 'a' in none }}
{{ [1] in d }}
{{ not true }}|{{ not '' }}|{{ not not 1 }}|{{ not 1 == 2 }}|{{ not (1 in [2]) }}
{{ 1 and 2 }}|{{ 0 and 2 }}|{{ '' or 'x' }}|{{ 1 or 2 }}|{{ none or 0 }}|{{ 1 and none or 'y' }}|{{ missing or 'd' }}
{{ true or 1 / 0 }}|{{ false and 1 / 0 }}
{{ 'y' if t else 'n' }}|{{ 'y' if no else 'n' }}|[{{ 'y' if no }}]|{{ 1 if no else 2 if no else 3 }}
{{ ('y' if no).x }}
{{ 'a' if t else 1 / 0 }}
{{ '%s is %d%%' % ('x', 5) }}|{{ '%5.2f|%-5s|%05d|%x|%+d' % (3.14159, 'ab', 42, 255, 7) }}|{{ '%s' % none }}|{{ '%r' % 'a' }}
{{ '%(a)s-%(b)d' % {'a': 'x', 'b': 3} }}|{{ '%e' % 12345.678 }}|{{ '%g' % 0.0001 }}|{{ '%s' % [1, 2] }}|{{ '%c' % 65 }}
{{ '%s %s' % ('a',) }}
{{ '%s' % ('a', 'b') }}
{{ '%d' % 'a' }}
{{ big + 1 }}|{{ big }}|{{ -big }}
{{ 1 == 1 == 1 }}|{{ (1 < 2) == true }}
{{ missing + 1 }}
{{ 1 + missing }}
{{ -missing }}
{{ missing < 1 }}
{{ n is defined and n > 5 and 'big' or 'small' }}
{{ 3 - 2 - 1 }}|{{ 100 / 10 / 2 }}|{{ 2 * 3 % 4 }}
{{ 1if t else 2 }}
{{ 10 // 3 * 3 + 10 % 3 }}|{{ 5.0 // 0.3 }}|{{ 1e308 * 10 }}|{{ -1e308 * 10 }}
"""

MEMBERS = r"""
{{ d.b }}|{{ d['b'] }}|{{ d.C[1] }}|{{ d['C'].0 }}|{{ nested.a.b[0].c }}|{{ nested['a']['b'][-1]['c'] }}
{{ d.items() | list }}|{{ d['items'] }}|{{ d.keys() }}|{{ d.values() }}|{{ d.items() }}
{{ d.zzz }}|{{ d['zzz'] }}|{{ d.zzz is defined }}|{{ missing }}|{{ missing is defined }}
{{ d.zzz.y }}
{{ missing.x }}
{{ missing['x'] }}
{{ missing() }}
{{ missing[1:] }}
{{ none.x }}|{{ none['x'] }}|{{ none[0] }}|{{ n.x }}|{{ n[0] }}
{{ none.x.y }}
{{ s[0] }}|{{ s[-1] }}|{{ s[1:4] }}|{{ s[::-1] }}|{{ s[::2] }}|{{ s[-3:] }}|{{ s[:-3] }}|{{ s[5:2] }}|{{ s[100:] }}|[{{ s[100] }}]
{{ u[0] }}|{{ u[4] }}|{{ u[-1] }}|{{ u[4:8] }}|{{ u[::-1] }}|{{ u[-3:] }}|{{ u[::3] }}|{{ u|length }}
{{ l[0] }}|{{ l[-1] }}|{{ l[1:] }}|{{ l[::-1] }}|{{ l[:2] }}|{{ l[10] }}|{{ l[5:] }}|{{ l[-2:] }}|{{ l[::-2] }}|{{ (1,2,3)[1:] }}
{{ l[none:2] }}|{{ l[true] }}|{{ l['0'] }}|{{ l.0 }}|{{ l.1 }}
{{ l['a':] }}
{{ l[::0] }}
{{ d[1:] }}
{{ n[1:] }}
{{ d.get('b') }}|{{ d.get('x') }}|{{ d.get('x', 5) }}|{{ d.get(1) }}
{{ d.get([1]) }}
{{ d[[1]] }}
{{ {1: 'i', 'a': 's'}[1] }}|{{ {1: 'i'}[1.0] }}|{{ {true: 'b'}[1] }}|{{ {none: 1}[none] }}|{{ {(1, 2): 't'}[(1, 2)] }}
{{ {[1]: 2} }}
{{ l.append(4) }}
{{ d.update({'x': 1}) }}
{{ d.pop('b') }}
{{ l.sort() }}|x
{{ l.append }}|{{ d.update is defined }}
{{ s.__class__ }}|{{ d.__class__ }}|{{ l._x }}
{{ s.__class__.__mro__ }}
{{ l.index(2) }}|{{ l.count(1) }}|{{ [1, 1, 2].count(1) }}|{{ (1, 2).index(2) }}|{{ l.copy() }}|{{ d.copy() }}
{{ l.index(9) }}
{{ users[0].name }}|{{ users[0]['name'] }}|{{ (users|first).age }}|{{ users[1].tags|length }}|{{ users[2].tags }}
{{ 'a'.b }}|{{ 'a'['b'] }}|{{ 1.5.x }}
{{ range(3)[1] }}|{{ range(10)[2:8:3] }}|{{ range(10)[-1] }}|{{ range(3)|length }}
{{ d|items|list }}|{{ de|items|list }}|{{ missing|items|list }}
{{ n|items|list }}
"""

METHODS = r"""
[{{ sp.strip() }}]|[{{ sp.lstrip() }}]|[{{ sp.rstrip() }}]|{{ 'xxaxx'.strip('x') }}|{{ 'abcba'.strip('ab') }}|{{ 'xay'.lstrip('yx') }}|{{ 'a\n\n'.rstrip('\n') }}
{{ 'a,b,,c'.split(',') }}|{{ 'a,b,c'.split(',', 1) }}|{{ sp.split() }}|{{ ' a  b c '.split(none, 1) }}|{{ ''.split() }}|{{ ''.split(',') }}|{{ 'abc'.split('bc') }}
{{ 'a,b,c'.rsplit(',', 1) }}|{{ 'a  b c '.rsplit(none, 1) }}|{{ 'a--b--c'.rsplit('--') }}|{{ 'aaa'.rsplit('aa') }}|{{ 'aaa'.split('aa') }}|{{ 'a,b'.split(sep=',') }}
{{ 'abc'.split('') }}
{{ 'a<think>b</think>c'.split('</think>')[-1] }}|{{ 'x'.split('</t>')[0] }}|{{ 'a</t>\nb'.split('</t>')[-1].lstrip('\n') }}
{{ ml.splitlines() }}|{{ ml.splitlines(true) }}|{{ 'a\x0bb\x0cc\x1cd\x85e\u2028f'.splitlines() }}|{{ ''.splitlines() }}|{{ '\n'.splitlines() }}
{{ s.startswith('Hell') }}|{{ s.endswith('ld') }}|{{ s.startswith(('x', 'H')) }}|{{ s.startswith('e', 1) }}|{{ s.endswith('o', 0, 5) }}|{{ s.startswith('') }}
{{ s.startswith(1) }}
{{ s.startswith(['H']) }}
{{ s.replace('l', 'L') }}|{{ s.replace('l', 'L', 1) }}|{{ 'aaa'.replace('aa', 'b') }}|{{ 'abc'.replace('', '-') }}|{{ 'é'.replace('', '.') }}|{{ ''.replace('', 'x') }}|{{ 'abc'.replace('', '-', 2) }}
{{ s.replace('a') }}
{{ s.replace(1, 'a') }}
{{ s.upper() }}|{{ s.lower() }}|{{ u.upper() }}|{{ u.lower() }}|{{ 'ŉ ǆ ß ﬁ'.upper() }}|{{ 'İ'.lower()|length }}
{{ 'hello wORLD it\'s'.title() }}|{{ 'hELLO wORLD'.capitalize() }}|{{ 'ǆabc'.capitalize() }}|{{ 'éa ßb'.title() }}|{{ 'aB ß'.swapcase() }}
{{ ','.join(['a', 'b']) }}|{{ ','.join('abc') }}|{{ ','.join([]) }}|{{ ', '.join(d) }}|{{ ''.join(['x']) }}
{{ ','.join([1, 2]) }}
{{ ','.join(5) }}
{{ s.find('o') }}|{{ s.find('o', 5) }}|{{ s.find('zz') }}|{{ s.rfind('o') }}|{{ s.index('W') }}|{{ s.count('l') }}|{{ u.find('日') }}|{{ s.count('') }}|{{ s.find('', 20) }}|{{ s.rfind('l', 0, 4) }}|{{ u.rfind('n') }}
{{ s.index('zz') }}
{{ '{} and {}'.format('a', 1) }}|{{ '{1}{0}{1}'.format('a', 'b') }}|{{ '{x}-{y}'.format(x=1, y='z') }}|{{ '{{}}'.format() }}|{{ '{!r}'.format('a') }}|{{ '{!s:>4}'.format(1) }}
{{ '{:.2f}|{:5d}|{:<5}|{:>5}|{:^5}|{:05d}|{:,}|{:x}|{:+}|{:%}'.format(3.14159, 42, 'a', 'b', 'c', 42, 1234567, 255, 5, 0.25) }}
{{ '{:*^9}|{:_<4}|{:é>3}|{:.2}|{:b}|{:#x}|{:e}|{:g}|{:,.2f}|{:03}'.format('mid', 'a', 'b', 'long', 5, 255, 12345.6789, 0.5, 1234567.891, 7) }}
{{ '{} {}'.format('a') }}
{{ '{'.format() }}
{{ '}'.format() }}
{{ '{:d}'.format('a') }}
{{ '{:d}'.format(1.5) }}
{{ '{x}'.format(y=1) }}
{{ '{:5}|{:<5}|{}'.format(true, 2.5, none) }}
{{ 'a'.center(6) }}|{{ 'ab'.center(5, '*') }}|{{ 'a'.ljust(4) }}|{{ 'a'.rjust(4, '.') }}|{{ '42'.zfill(5) }}|{{ '-42'.zfill(6) }}|{{ 'abc'.center(2) }}
{{ 'prefix-x'.removeprefix('prefix-') }}|{{ 'x.txt'.removesuffix('.txt') }}|{{ 'x'.removesuffix('') }}|{{ 'a=b=c'.partition('=') }}|{{ 'a=b=c'.rpartition('=') }}|{{ 'x'.partition('=') }}|{{ 'x'.rpartition('=') }}
{{ 'abc'.islower() }}|{{ 'ABC'.isupper() }}|{{ 'Abc'.islower() }}|{{ '1'.isupper() }}|{{ ' '.isspace() }}|{{ ''.isspace() }}|{{ 'ªº'.islower() }}|{{ 'é'.isascii() }}
{{ '12'.isdigit() }}|{{ 'a1'.isdigit() }}|{{ ''.isdigit() }}|{{ 'ab'.isalpha() }}|{{ 'a1'.isalnum() }}|{{ 'a b'.isalnum() }}|{{ '12'.isnumeric() }}|{{ '7'.isdecimal() }}
{{ s.nosuch() }}
{{ s.strip(1) }}
{{ s.split(1) }}
{{ s.upper(1) }}
{{ 1.upper() }}
{{ n.upper() }}
{{ s.strip().lower().split(' ')[1][0] }}|{{ (s + '!').upper() }}|{{ 'a'.upper() ~ 'b' }}
"""

FILTERS = r"""
{{ s|upper }}|{{ s|lower }}|{{ 'hELLO wORLD'|capitalize }}|{{ 'hello-world (foo) [bar] {x} it\'s éa'|title }}|{{ 5|upper }}|{{ none|lower }}|{{ missing|upper }}
[{{ sp|trim }}]|{{ 'xax'|trim('x') }}|[{{ missing|trim }}]|{{ 5|trim }}|{{ ' a '|trim|length }}
{{ s|length }}|{{ l|length }}|{{ d|count }}|{{ missing|length }}|{{ ''|length }}|{{ range(5)|length }}|{{ d.items()|length }}
{{ 5|length }}
{{ none|length }}
{{ (l|map('string'))|length }}
{{ missing|default('x') }}|{{ ''|default('x') }}|{{ ''|default('x', true) }}|{{ none|default('x') }}|{{ none|d('x', boolean=true) }}|{{ 0|d(1, true) }}|[{{ missing|default }}]|{{ d.q|default('n') }}
{{ l|join }}|{{ l|join(', ') }}|{{ users|join(', ', attribute='name') }}|{{ 'abc'|join('-') }}|{{ [1, none, 'x', 1.5]|join('|') }}|{{ missing|join }}|{{ d|join(',') }}|{{ users|map(attribute='age')|join('+') }}
{{ 5|join }}
{{ l|first }}|{{ l|last }}|{{ 'abc'|first }}|{{ 'abc'|last }}|[{{ le|first }}]|[{{ ''|last }}]|{{ d|first }}|{{ d|last }}|{{ d.items()|first }}
{{ 5|first }}
{{ l|map('string')|last }}
{{ 'abc'|list }}|{{ d|list }}|{{ (1, 2)|list }}|{{ range(3)|list }}|{{ missing|list }}|{{ d.values()|list }}
{{ 5|list }}
{{ l|sort }}|{{ ls|sort }}|{{ ls|sort(case_sensitive=true) }}|{{ l|sort(reverse=true) }}|{{ users|sort(attribute='name')|map(attribute='name')|join(',') }}|{{ users|sort(attribute='age,name')|map(attribute='name')|list }}|{{ users|sort(attribute='age', reverse=true)|map(attribute='name')|list }}|{{ 'cab'|sort }}
{{ [1, 'a']|sort }}
{{ [none, 1]|sort }}
{{ d|dictsort }}|{{ d|dictsort(true) }}|{{ {'x': 2, 'y': 1}|dictsort(by='value') }}|{{ {'x': 2, 'y': 1}|dictsort(reverse=true) }}
{{ l|dictsort }}
{{ {'x': 2}|dictsort(by='z') }}
{{ d|dictsort(by='value') }}
{{ ls|map('upper')|list }}|{{ users|map(attribute='tags', default='-')|list }}|{{ ls|map('replace', 'a', 'z')|join }}|{{ none|map('upper')|list }}|{{ [[1, 2], [3]]|map('length')|list }}|{{ users|map(attribute='tags.0')|list }}
{{ ls|map|list }}
{{ [1]|map('nosuch')|list }}
{{ l|select('odd')|list }}|{{ l|reject('odd')|list }}|{{ mixed|select('string')|list }}|{{ [0, 1, '', 'a']|select|list }}|{{ [0, 1]|reject|list }}|{{ l|select('>', 1)|list }}|{{ l|select('in', [1, 2])|list }}|{{ l|reject('equalto', 1)|list }}
{{ users|selectattr('on')|map(attribute='name')|list }}|{{ users|rejectattr('on')|list|length }}|{{ users|selectattr('name', 'equalto', 'Bob')|list|length }}|{{ users|selectattr('tags', 'defined')|list|length }}|{{ users|selectattr('age', 'ge', 30)|map(attribute='name')|first }}|{{ users|rejectattr('tags', 'undefined')|list|length }}
{{ users|selectattr|list }}
{{ [1]|select('nosuch')|list }}
{{ 'yes' if (l|select('gt', 9)) else 'no' }}|{{ 'yes' if (l|select('gt', 9)|list) else 'no' }}
{% set g = l|select('odd') %}{{ g|list }}{{ g|list }}
{% set g = l|map('string') %}{{ g|first }}{{ g|first }}{{ g|join }}
{{ [1, 1.0, true, 'a', 'A', 2]|unique|list }}|{{ ls|unique(true)|list }}|{{ users|unique(attribute='age')|map(attribute='name')|list }}
{{ [[1], [1]]|unique|list }}
{{ l|reverse|list }}|{{ 'abc'|reverse }}|{{ d|reverse|list }}|{{ range(3)|reverse|list }}|{{ u|reverse }}
{{ 5|reverse }}
{{ 'a.b.a'|replace('a', 'x') }}|{{ 'aaa'|replace('a', 'b', 2) }}|{{ 5|replace(5, 6) }}|{{ 'x'|replace('', '.') }}
{{ 5|string }}|{{ none|string|length }}|{{ [1, 'a']|string }}|{{ 1.0|string }}|{{ true|string }}|[{{ missing|string }}]
{{ '42'|int }}|{{ '42.9'|int }}|{{ 'x'|int }}|{{ 'x'|int(7) }}|{{ 3.9|int }}|{{ -3.9|int }}|{{ '0x1A'|int(base=16) }}|{{ '1A'|int(0, 16) }}|{{ ' 7 '|int }}|{{ none|int }}|{{ true|int }}|{{ '1e3'|int }}|{{ '1_000'|int }}|{{ [1]|int }}|{{ '4_2'|int }}|{{ '_1'|int }}|{{ '1__0'|float }}
{{ missing|int }}
{{ '1.5'|float }}|{{ 'x'|float }}|{{ 'x'|float(2) }}|{{ 3|float }}|{{ 'inf'|float }}|{{ '-nan'|float }}|{{ '1e400'|float }}|{{ ' 1.5e2 '|float }}|{{ none|float }}|{{ '.5'|float }}|{{ '5.'|float }}|{{ '1e-400'|float }}
{{ -5|abs }}|{{ (-5)|abs }}|{{ -2.5|abs }}|{{ true|abs }}
{{ 'a'|abs }}
{{ 2.5|round }}|{{ 3.5|round }}|{{ 2.675|round(2) }}|{{ 42.55|round(1, 'floor') }}|{{ 42.51|round(1, 'ceil') }}|{{ 5|round }}|{{ 5|round(1, 'floor') }}|{{ 1234.5|round(-2) }}|{{ 1250|round(-2) }}|{{ 42.7|round|int }}|{{ -0.5|round }}
{{ 2.5|round(method='up') }}
{{ l|min }}|{{ l|max }}|{{ ls|min }}|{{ ls|max }}|[{{ le|min }}]|{{ users|max(attribute='age') }}|{{ ls|min(case_sensitive=true) }}|{{ d|max }}
{{ [1, 'a']|min }}
{{ l|sum }}|{{ le|sum }}|{{ users|sum(attribute='age') }}|{{ [1.5, 2]|sum }}|{{ l|sum(start=10) }}|{{ [[1], [2]]|sum(start=[]) }}
{{ ls|sum }}
{{ [1, 2, 3, 4, 5]|batch(2)|list }}|{{ [1, 2, 3]|batch(2, 'x')|list }}|{{ []|batch(2)|list }}
{{ [1, 2, 3, 4, 5]|slice(2)|list }}|{{ [1, 2, 3]|slice(2, 'x')|list }}
{{ html|escape }}|{{ html|e }}|{{ html|safe }}|{{ html }}|{{ html|safe|escape }}|{{ html|e|e }}|{{ 5|e }}
{{ ('<'|safe) + '<' }}|{{ '<' + ('<'|safe) }}|{{ ('<'|safe) ~ '<' }}|{{ ('<'|e) * 2 }}|{{ (html|e)[:4] }}|{{ ('<a>'|safe).upper() }}|{{ ['<'|safe] }}|{{ ('<'|safe)|string + '<' }}
{{ (html|e).replace('&', '<') }}|{{ ('%s'|safe) % '<' }}|{{ ('{}'|safe).format('<') }}|{{ ('<'|safe).join(['<', 'a']) }}|{{ (['<']|tojson|safe) }}|{{ ('a'|safe)|tojson }}|{{ 'a' == ('a'|safe) }}
{{ 'a\nb\n\nc'|indent }}|{{ 'a\nb'|indent(2) }}|{{ 'a\nb'|indent(2, true) }}|{{ 'a\n\nb'|indent(2, blank=true) }}|{{ 'a\nb'|indent('> ') }}|{{ 'a\n'|indent }}|{{ ''|indent(2, true) }}
{{ 5|indent }}
{{ 'a'|center(5) }}|{{ '%s-%s'|format('a', 1) }}|{{ 'one two, three'|wordcount }}
{{ d|tojson }}|{{ mixed|tojson }}|{{ s|tojson }}|{{ u|tojson }}|{{ q|tojson }}|{{ html|tojson }}|{{ none|tojson }}|{{ f|tojson }}|{{ [tiny, huge, 1.0, big]|tojson }}|{{ '\x00\x1f\x7f\u2028\b\f\n\r\t/\\'|tojson }}
{{ u|tojson(ensure_ascii=true) }}|{{ '\x7f'|tojson(true) }}|{{ d|tojson(indent=2) }}|{{ [[], {}, [1, {'a': []}]]|tojson(indent=1) }}|{{ d|tojson(separators=(',', ':')) }}|{{ d|tojson(sort_keys=true) }}|{{ [1, 2]|tojson(indent='--') }}|{{ [1]|tojson(indent=0) }}|{{ d|tojson(indent=4, separators=(', ', ' : ')) }}
{{ {1: 'a', none: 'b', true: 'c', 1.5: 'd'}|tojson }}|{{ (1, 'a')|tojson }}|{{ ('inf'|float)|tojson }}|{{ ('nan'|float)|tojson }}|{{ -0.0|tojson }}
{{ missing|tojson }}
{{ d.items()|tojson }}
{{ {(1, 2): 3}|tojson }}
{{ {1: 'a', 'b': 2}|tojson(sort_keys=true) }}
{{ (l|map('string'))|tojson }}
{{ namespace()|tojson }}
{{ s|nosuch }}
{{ s|attr('upper') is callable }}|{{ d|attr('b') }}|{{ -5|abs|string + 'x' }}|{{ l|first|string ~ '!' }}
{{ s|upper|lower|title|replace('World', 'X') }}|{{ l|sort|first + 10 }}|{{ l | length > 2 }}|{{ l|length is odd }}
{{ s|replace('a') }}
{{ s|upper(1) }}
{{ s|default(nosuch=1) }}
{{ users|map(attribute='name')|map('lower')|sort|join(' ') }}
{{ ['b', 'a']|sort(nosuch=1) }}
"""

TESTS = r"""
{{ n is defined }}|{{ missing is defined }}|{{ missing is undefined }}|{{ n is not defined }}|{{ d.zz is undefined }}
{{ nil is none }}|{{ n is none }}|{{ nil is not none }}|{{ missing is none }}
{{ s is string }}|{{ n is string }}|{{ ('a'|safe) is string }}|{{ d is mapping }}|{{ l is mapping }}
{{ l is sequence }}|{{ s is sequence }}|{{ d is sequence }}|{{ n is sequence }}|{{ missing is sequence }}|{{ (1,) is sequence }}|{{ range(2) is sequence }}|{{ d.items() is sequence }}|{{ (l|map('string')) is sequence }}
{{ l is iterable }}|{{ s is iterable }}|{{ d is iterable }}|{{ n is iterable }}|{{ nil is iterable }}|{{ missing is iterable }}|{{ (l|map('string')) is iterable }}|{{ d.keys() is iterable }}
{{ n is number }}|{{ f is number }}|{{ t is number }}|{{ s is number }}|{{ n is integer }}|{{ t is integer }}|{{ f is integer }}|{{ f is float }}|{{ n is float }}|{{ t is boolean }}|{{ n is boolean }}|{{ 1 is boolean }}
{{ t is true }}|{{ 1 is true }}|{{ no is false }}|{{ 0 is false }}|{{ nil is false }}
{{ n is eq 7 }}|{{ n is equalto 7 }}|{{ n is ne(7) }}|{{ n is lt 8 }}|{{ n is gt(8) }}|{{ n is le 7 }}|{{ n is ge 7 }}|{{ n is lessthan 3 }}|{{ n is greaterthan 3 }}|{{ n is eq(7.0) }}
{{ n is in [7] }}|{{ n is not in [7] }}|{{ 'a' is in 'cat' }}|{{ 'b' is in d }}
{{ n is odd }}|{{ n is even }}|{{ 6 is divisibleby 3 }}|{{ 7 is divisibleby(3) }}|{{ 2.0 is even }}
{{ 's' is odd }}
{{ 6 is divisibleby 0 }}
{{ l is sameas l }}|{{ [1] is sameas [1] }}|{{ nil is sameas none }}|{{ t is sameas true }}|{{ 1 is sameas true }}
{{ s.upper is callable }}|{{ range is callable }}|{{ s is callable }}|{{ dict is callable }}|{{ namespace is callable }}
{{ 'abc' is lower }}|{{ 'ABC' is upper }}|{{ 'Abc' is lower }}|{{ '' is lower }}|{{ 5 is upper }}|{{ 'é' is lower }}
{{ ('a'|safe) is escaped }}|{{ 'a' is escaped }}|{{ 'upper' is filter }}|{{ 'zz' is filter }}|{{ 'odd' is test }}
{{ n is nosuch }}
{{ n is defined is defined }}
{{ (n is defined) is true }}|{{ not n is defined }}|{{ n is defined and s is string }}|{{ n is defined or false }}|{{ 'y' if n is defined else 'n' }}
{{ n is lt }}
{{ n is lt 's' }}
{{ l|length is eq 3 }}|{{ 3 + 4 is eq 7 }}|{{ (3 + 4) is eq 7 }}|{{ -1 is number }}|{{ 2 is eq 1 + 1 }}
{{ 'x' is string ~ 'y' }}
{{ missing is string }}|{{ missing is mapping }}|{{ missing is number }}|{{ missing is callable }}
"""

STATEMENTS = r"""
{% if n > 5 %}big{% elif n > 3 %}mid{% else %}small{% endif %}|{% if le %}x{% endif %}|{% if not missing %}m{% endif %}|{% if 1 %}{% endif %}
{% if no %}a{% elif t %}b{% elif t %}c{% endif %}
{% for x in l %}{{ x }}{% endfor %}|{% for x in le %}x{% else %}none{% endfor %}|{% for x in missing %}x{% else %}undef{% endfor %}|{% for c in 'héy' %}{{ c }}.{% endfor %}
{% for k in d %}{{ k }},{% endfor %}|{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}|{% for k, v in d|items %}{{ k }}{% endfor %}|{% for k, v in d|dictsort %}{{ k }}{% endfor %}
{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }} {% endfor %}
{% for x in l %}[{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }}]{% endfor %}|{% for x in l %}{{ loop.cycle('a', 'b') }}{% endfor %}|{% for x in l %}{{ loop['index'] }}{% endfor %}
{% for x in l %}{% for y in [1, 2] %}{{ loop.index }}{{ x }}{{ y }} {% endfor %}{{ loop.index }}{% endfor %}
{% for x in l if x > 1 %}{{ loop.index }}:{{ x }}/{{ loop.length }} {% endfor %}|{% for x in l if x > 9 %}{% else %}none{% endfor %}
{% for a, b in [[1, 2], [3, 4]] %}{{ a + b }},{% endfor %}|{% for a, (b, c) in [[1, [2, 3]]] %}{{ a }}{{ b }}{{ c }}{% endfor %}|{% for (a, b) in [(1, 2)] %}{{ a }}{{ b }}{% endfor %}
{% for a, b in [[1, 2, 3]] %}{% endfor %}
{% for a, b in [1] %}{% endfor %}
{% for x in 5 %}{% endfor %}
{% for x in none %}{% endfor %}
{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}|{% for x in l %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% else %}e{% endfor %}
{% for x in [] %}{% break %}{% else %}e{% endfor %}|{% for x in l %}{% for y in l %}{% break %}{% endfor %}{{ x }}{% endfor %}
{% break %}
{% for x in range(3) %}{{ x }}{% endfor %}|{% for x in range(2, 5) %}{{ x }}{% endfor %}|{% for x in range(5, 0, -2) %}{{ x }}{% endfor %}|{{ range(3) }}|{{ range(0, 5, 2) }}|{{ range(3) == range(0, 3) }}
{{ range(200000)|length }}
{{ range('a') }}
{{ range(1, 2, 0) }}
{% set x = 1 %}{{ x }}|{% set x, y = 1, 2 %}{{ x }}{{ y }}|{% set (x, y) = [3, 4] %}{{ x }}{{ y }}|{% set x = 1, 2 %}{{ x }}|{% set x = 'a' if t else 'b' %}{{ x }}
{% set x, y = [1] %}
{% set x %}a{{ n }}b{% endset %}{{ x }}|{% set x | upper %}abc{% endset %}{{ x }}|{% set x|replace('a', 'z')|upper %}abc{% endset %}{{ x }}|{{ x|length }}
{% set x = 1 %}{% for i in l %}{% set x = i %}{{ x }}{% endfor %}{{ x }}|{% set x = 1 %}{% if t %}{% set x = 2 %}{% endif %}{{ x }}
{% for i in l %}{{ x is defined }}{% set x = i %}{% endfor %}|{% if no %}{% set q = 1 %}{% endif %}{{ q }}
{% for i in [1] %}{% set inner = 1 %}{% endfor %}{{ inner is defined }}|{% for n in [1] %}{{ n }}{% endfor %}{{ n }}
{% set ns = namespace(a=1, b='x') %}{% for i in l %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}{{ ns.b }}|{{ ns.c is defined }}|{{ ns['a'] }}
{% set ns = namespace() %}{% set ns.x %}block{% endset %}{{ ns.x }}|{% set ns.y, z = 1, 2 %}{{ ns.y }}{{ z }}|{% set ns = namespace({'k': 5}) %}{{ ns.k }}
{% set ns = namespace(_a=1) %}
{% set ns = namespace() %}{% set ns._a = 1 %}
{% set d.x = 1 %}
{% set nosuch.x = 1 %}
{% set ns = namespace(l=[]) %}{% for i in l %}{% set ns.l = ns.l + [i * 2] %}{% endfor %}{{ ns.l }}
{{ dict(a=1, b=2) }}|{{ dict({'x': 1}, y=2) }}|{{ dict([('a', 1), ['b', 2]]) }}|{{ dict(d, b=9) }}|{{ dict() }}
{{ dict(5) }}
{{ dict(['abc']) }}
{% set j = joiner('; ') %}{% for x in l %}{{ j() }}{{ x }}{% endfor %}|{% set j = joiner() %}{{ j() }}a{{ j() }}b
{% macro m(a, b=2, c='x') %}[{{ a }}{{ b }}{{ c }}]{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(1, c='z') }}{{ m(b=5, a=6) }}{{ m() }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, a=2) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(b=2) }}
{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}|{{ m() }}
{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(missing, 2) }}|{% macro k(a=none) %}{{ a }}{% endmacro %}{{ k() }}{{ k(missing) }}
{% macro m(x) %}{% if x > 0 %}{{ x }}{{ m(x - 1) }}{% endif %}{% endmacro %}{{ m(3) }}|{% macro o() %}{{ n }}{{ gl }}{% endmacro %}{% set gl = 'late' %}{{ o() }}
{% macro m() %}{% set v = 1 %}{{ v }}{% endmacro %}{{ m() }}{{ v is defined }}|{{ m()|length }}|{{ m() + 'x' }}|{{ m() == '1' }}
{% macro w() %}<{{ caller() }}>{% endmacro %}{% call w() %}body {{ n }}{% endcall %}|{% macro w2() %}{% for i in l %}{{ caller(i) }}{% endfor %}{% endmacro %}{% call(x) w2() %}({{ x }}){% endcall %}
{% macro w() %}{{ caller is defined }}{% if caller %}{{ caller() }}{% endif %}{% endmacro %}{{ w() }}{% call w() %}c{% endcall %}
{% macro w() %}x{% endmacro %}{% call w() %}y{% endcall %}
{% macro w() %}{{ caller() }}{% endmacro %}{{ w() }}
{% macro a() %}A{{ b() }}{% endmacro %}{% macro b() %}B{% endmacro %}{{ a() }}
{{ early() }}{% macro early() %}x{% endmacro %}
{% if t %}{% macro m() %}in if{% endmacro %}{% endif %}{{ m() }}|{% for x in [1, 2] %}{% macro r() %}{{ x }}{{ loop.index }}{% endmacro %}{{ r() }}{% endfor %}
{% filter upper %}abc {{ s }}{% endfilter %}|{% filter replace('a', 'b')|upper %}banana{% endfilter %}|{% filter trim %}  x  {% endfilter %}
{% set y = 1 %}{% filter upper %}{% set y = 2 %}{{ y }}{% endfilter %}{{ y }}|{% set y = 1 %}{% set b %}{% set y = 3 %}{{ y }}{% endset %}{{ b }}{{ y }}
{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}|{% set a = 5 %}{% with a = 1, b = a %}{{ a }}{{ b }}{% endwith %}|{% with %}{% set w = 1 %}{% endwith %}{{ w is defined }}
{% generation %}gen {{ n }}{% set g = 1 %}{% endgeneration %}{{ g is defined }}|{%- generation -%}  x  {%- endgeneration -%}|
{% raw %}{{ x }}{% if %}{# c #}{% endraw %}|{%- raw -%}  a  {%- endraw -%}  |
{% print n %}|{% print 'a' ~ 1 %}
{% include 'x' %}
{% extends 'x' %}
{% import 'x' as y %}
{% do l.append(1) %}
{% nosuch %}
{% if t %}
{% for x in l %}
{% endif %}
{% if t %}{% endfor %}
{{ n
{% if t
{# open
{% raw %}x
{{ }}
{% set %}
{% set x = %}
{% set true = 1 %}
{% set 1 = 2 %}
{% for %}{% endfor %}
{% for x %}{% endfor %}
{% macro %}{% endmacro %}
{% macro m(a=1, b) %}{% endmacro %}
{{ n n }}
{{ (1, 2 }}
{{ [1, 2) }}
{{ ) }}
{{ {1} }}
{{ n. }}
{{ n| }}
{{ n is }}
{{ f(a=1, 2) }}
{{ dict(a=1, a=2) }}
{{ @ }}
{{ a & b }}
{{ n ! }}
{{ raise_exception('stop: ' ~ n) }}
{{ raise_exception() }}
{% if n > 3 %}{{ raise_exception("n is 'large'") }}{% endif %}
{{ strftime_now('%Y-%m-%d %H:%M:%S %d %B %b %a %A %j %y %I %p %% %-d %e') }}|{{ strftime_now('') }}|{{ strftime_now('%d é') }}
{{ strftime_now(5) }}
{{ n() }}
{{ 'a'() }}
{{ [1, 2, 3](0) }}
{% for x in l %}{{ loop }}{% endfor %}
{{ loop }}|{{ loop is defined }}
{% for x in l %}{% endfor %}{{ x is defined }}{{ loop is defined }}
{% for user in users if user.on %}{{ user.name }}{% if not loop.last %}, {% endif %}{% endfor %}
{% for x in (l if t else []) %}{{ x }}{% endfor %}|{% for x in l + [4] %}{{ x }}{% endfor %}|{% for x in l|sort %}{{ x }}{% endfor %}|{% for x in [1, 2, 3][::-1] %}{{ x }}{% endfor %}|{% for x in 1, 2 %}{{ x }}{% endfor %}
{% for x in l if t else [] %}{% endfor %}
{% set a = [1] %}{% set b = a %}{% set a = a + [2] %}{{ a }}{{ b }}
{% set loop_messages = users[1:] %}{% for m in loop_messages %}{% if (m.name == 'Bob') != (loop.index0 % 2 == 0) %}{{ m.name }}{% endif %}{% endfor %}
{% if (n == 7) != (z % 2 == 0) %}x{% endif %}|{% if 'a' in s and s.startswith('H') or no %}y{% endif %}|{% if l is string %}{% elif l is iterable and l is not mapping %}list{% endif %}
{% set x = l %}{% if x is not none and x|length > 2 %}{{ x[0] ~ x[-1] }}{% endif %}|{{ (n, f)|max }}|{{ [l, le]|map('length')|sum }}
{%- set content = 'a</think>b' -%}{%- if '</think>' in content -%}{%- set r = content.split('</think>')[0] -%}{%- set content = content.split('</think>')[-1] -%}{%- endif -%}{{ r }}|{{ content }}
{% set m = {'role': 'user', 'content': none} %}{{ m.content }}|{{ m['content'] is none }}|{{ 'content' in m }}|{{ m.get('tool_calls') }}|{{ m.tool_calls is defined }}
"""

# Not a line each: what white space becomes.
WHITE_SPACE = [
    "a\n{% if t %}\nb\n{% endif %}\nc\n",
    "a\n  {% if t %}\n  b\n  {% endif %}\nc",
    "a\n  {%- if t %}\n  b\n  {%- endif %}\nc",
    "a\n  {% if t -%}\n  b\n  {% endif -%}\nc",
    "a\n  {%+ if t %}\n  b\n  {%+ endif %}\nc",
    "a\n  {% if t +%}\n  b\n  {% endif +%}\nc",
    "  {% if t %}x{% endif %}  y",
    "x  {% if t %}y{% endif %}  z",
    "{{ n }}\n{{ n }}\n",
    "{{ n }}\n\n",
    "{{ n }}\n\n\n{% if t %}\n\nx{% endif %}\n\n",
    "  {{ n }}  \n  {{- n }}  \n  {{ n -}}  \n  z",
    "  {{- n -}}  ",
    "a {#- c -#} b {# c #} d\n{# c #}\ne\n  {# c #}\nf\n  {#+ c +#}\ng",
    "a\n{# c\nd #}\nb",
    "\n\n{% set x = 1 %}\n\n{{ x }}\n\n",
    "\r\n{% set x = 1 %}\r\n{{ x }}\r\ny\rz\r\n",
    "{% for i in l %}\n  {{ i }}\n{% endfor %}\n",
    "{% for i in l -%}\n  {{ i }}\n{%- endfor %}\n",
    "{%- for i in l %}\n  - {{ i }}\n{%- endfor %}\n\nend",
    "\t{% if t %}\n\tx\n\t{% endif %}\n",
    "\u00a0{% if t %}x{% endif %}\u00a0",
    "a\u00a0{%- if t %}x{% endif -%}\u2003b",
    "a\f\v{%- if t -%}\x1c x {%- endif %}",
    "{% raw %}\n  {{ x }}\n{% endraw %}\ny",
    "  {% raw %}  {{ x }}  {% endraw %}  y",
    "a\n  {%- raw -%}  {{ x }}\n  {%- endraw -%}  \n y",
    "a\n{% raw %}\n b\n  {% endraw %}\nc",
    "{% if t %}{% if t %}\n x{% endif %}\n{% endif %}\n y",
    "{% if t %}\n{% if t %}\n x\n{% endif %}\n{% endif %}\n y",
    "{% macro m() %}\n  a\n{% endmacro %}\n{{ m() }}|",
    "{% macro m() -%}\n  a\n{%- endmacro %}\n{{ m() }}|",
    "{% set x %}\n  a\n{% endset %}\n[{{ x }}]",
    "{% generation %}\n  a\n{% endgeneration %}\nb",
    "{{ 'a\n' }}\n{{ '\n' -}}\n b",
    "{{ n }}{% if t %}\n{% endif %}{{ n }}",
    "x{% if t %}   {% endif %}y",
    "{%if t%}a{%endif%}{{n}}{{-n-}}",
    "{%-if t-%} a {%-endif-%} b",
    "{{ [1,\n   2] }}\n{{ {\n'a': 1} }}",
    "", "\n", "  ", "\n\n", "plain", "{", "}", "{ {", "{a}", "%}", "}}", "#}", "{{'{{'}}", "a { b } c",
    "{{ n }}}", "{{{ 'a': n }}}", "{{ {'a': n} }}", "{{ {'a': {'b': n}}['a']['b'] }}",
    "line1\n{{ nosuch.x }}\n",
]

def snippets():
    """The lines of the texts above; a line of expressions is one snippet for each."""
    for text in (LITERALS, OPERATORS, MEMBERS, METHODS, FILTERS, TESTS, STATEMENTS):
        for line in text.strip("\n").split("\n"):
            if "{%" in line:
                yield line
            else:
                yield from re.split(r"(?<=\}\})\|(?=\{\{)", line)
    yield from WHITE_SPACE


SNIPPETS = list(snippets())
