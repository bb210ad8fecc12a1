//! What is not read, told by the tasks that are left.

use crate::tasks::TaskStatus::Pending;
use crate::tasks::testing::{Row, assert_tasks};

#[test]
fn what_is_not_read() {
    let a = |line| ("", "a", Pending, line);
    let table: [(&str, &[Row]); 36] = [
        ("```\n- [ ] b\n```\n- [ ] a", &[a(3)]),
        ("~~~ md\n- [ ] b\n```\n~~~~\n- [ ] a", &[a(4)]),
        ("````\n```\n- [ ] b\n````\n- [ ] a", &[a(4)]),
        ("```\n``` x\n- [ ] b\n```\n- [ ] a", &[a(4)]),
        ("- x\n      ```sh\n      - [ ] b\n      ```\n- [ ] a", &[a(4)]),
        ("- ```sh\n  - [ ] b\n  ```\n- [ ] a", &[a(3)]),
        ("```x``` is code\n- [ ] a", &[a(1)]),
        ("``\n- [ ] a", &[a(1)]),
        ("- [ ] a\n```\n- [ ] b", &[a(0)]),
        ("<!-- - [ ] b -->\n- [ ] a", &[a(1)]),
        ("<!--\n- [ ] b\n\n- [ ] c -->\n- [ ] a", &[a(4)]),
        ("- [ ] a <!-- why -->", &[a(0)]),
        ("- [ ]<!-- why -->a", &[a(0)]),
        ("<!-- x --> - [ ] a <!-- y -->", &[a(0)]),
        ("- [ ] a <!--\n- [ ] b\n--> x", &[a(0)]),
        ("x <!-- y\n- [ ] b --> - [ ] a", &[("", "a", Pending, 1)]),
        ("- [ ] <!-- é --> a", &[a(0)]),
        ("<!-->\n- [ ] a", &[a(1)]),
        ("<!--->\n- [ ] a", &[a(1)]),
        ("- [ ] a\n<!--\n- [ ] b", &[a(0)]),
        ("  <!-- x\n```\n-->\n- [ ] a", &[a(3)]),
        ("`<!--`\n- [ ] a\n-->", &[a(1)]),
        ("`` ` <!-- ``\n- [ ] a\n-->", &[a(1)]),
        ("` <!-- x\n- [ ] b\n-->\n- [ ] a", &[a(3)]),
        ("`x` <!--\n- [ ] b\n-->\n- [ ] a", &[a(3)]),
        ("\\<!-- x\n- [ ] a\n-->", &[a(1)]),
        ("\\`<!-- `\n- [ ] b\n-->\n- [ ] a", &[a(3)]),
        ("```\n<!--\n```\n- [ ] a\n-->", &[a(3)]),
        ("the text <!-- is never closed\n- [ ] a", &[a(1)]),
        ("---\nx: y\n- [ ] b\n---\n- [ ] a", &[a(4)]),
        ("---\nx: |\n  ```\n...\n- [ ] a", &[a(4)]),
        ("---\n- [ ] a", &[a(1)]),
        ("x\n---\n- [ ] a\n---", &[a(2)]),
        ("\u{feff}- [ ] a", &[a(0)]),
        ("\u{feff}---\n- [ ] b\n---\n- [ ] a", &[a(3)]),
        ("\\", &[]),
    ];
    for (text, expected) in table {
        assert_tasks(text, expected);
        assert_tasks(&text.replace('\n', "\r\n"), expected);
        assert_tasks(&text.replace('\n', "\r"), expected);
    }
}
