"""Cases as TAP: each a line as it comes, the plan after the last."""


class Tap:
    number = failed = 0

    def case(self, good, title, note=""):
        """The note says why; it is printed when the case is not good. Returns whether it is."""
        self.number += 1
        self.failed += not good
        for line in str(note).splitlines() if not good else []:
            print("# " + line[:2000])
        print(f"{'ok' if good else 'not ok'} {self.number} - {title}", flush=True)
        return good

    def skip(self, title, why):
        self.number += 1
        print(f"ok {self.number} - {title} # SKIP {why}", flush=True)

    def finish(self, nothing=""):
        """Prints the plan, and why there is no case if there is none; returns the exit code."""
        print(f"1..{self.number}" + ("" if self.number or not nothing else f" # SKIP {nothing}"))
        return 1 if self.failed else 0
