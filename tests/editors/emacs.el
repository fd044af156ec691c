;;; emacs.el --- dap-mode and `pawl dap', in Emacs without a screen. Prints TAP.  -*- lexical-binding: t -*-

;;   tests/editors/run emacs.el PAWL [RUNS [STEPS]]
;;
;; Emacs is started as tests/editors/run does, with the packages of the distribution in its load-path.
;; The first cases are what a person does in a session: a breakpoint in the buffer, a step, a look at variables, back, an
;; expression, a changed file. The last one makes RUNS sessions of STEPS steps each, and looks after every step where it stands.

(require 'cl-lib)

(defvar test-folder (file-name-as-directory (make-temp-file "pawl-emacs-" t)))
(setq user-emacs-directory test-folder) ; nothing of the person's own is read or written
(defvar treemacs-text-scale nil) ; which treemacs 2.8 has not, and dap-mode 0.7 looks at

(require 'dap-mode)
(require 'dap-ui)

(defvar test-pawl (expand-file-name (pop command-line-args-left)))
(defvar test-runs (string-to-number (or (pop command-line-args-left) "2")))
(defvar test-steps (string-to-number (or (pop command-line-args-left) "30")))
(defvar test-patience 60 "Seconds, for what takes milliseconds.")
(defvar test-number 0)
(defvar test-failed 0)

(setq dap-breakpoints-file (concat test-folder "breakpoints")
      lsp-session-file (concat test-folder "lsp-session")
      dap-auto-show-output nil
      dap-print-io nil)

(defconst test-flow "name: flow
state: {count: 0, deep: {list: [1, {word: \"grüße 🐈\"}]}}
nodes:
  - name: one
    jq: '{count: (.count + 1)}'
  - name: two
    jq: '{count: (.count + 10)}'
  - name: three
    jq: '{count: (.count + 100)}'
")

(defconst test-loop "name: loop
state: {n: 0}
config: {recursion_limit: 1000000}
nodes:
  - name: again
    while: .n < 100000
    max_iterations: 100001
    do:
      - {name: add, jq: '{n: (.n + 1)}'}
      - {name: look, jq: '{seen: .n}'}
")

;;; What is waited for

(defun test-until (what found)
  "Let Emacs do its work until FOUND gives something, and return that."
  (let ((end (+ (float-time) test-patience)) it)
    (while (not (setq it (funcall found)))
      (when (> (float-time) end) (error "%s: not within %d s" what test-patience))
      (accept-process-output nil 0.01))
    it))

(defun test-same (got want what)
  (unless (equal got want) (error "%s is %S, not %S" what got want)))

(defun test-session ()
  (dap--cur-session))

(defun test-frame ()
  "The stack frame that Emacs shows, once it stands still."
  (test-until "it stands still"
              (lambda ()
                (when (eq 'failed (dap--debug-session-state (test-session)))
                  (error "%s" (dap--debug-session-error-message (test-session))))
                (when (dap--debug-session-thread-id (test-session))
                  (dap--debug-session-active-frame (test-session))))))

(defun test-place ()
  (let ((frame (test-frame)))
    (list (gethash "name" frame) (gethash "line" frame))))

(defun test-variables ()
  "((NAME . VALUE)...) of the first scope, as the buffer of locals asks for them."
  (let* ((session (test-session))
         (scopes (gethash "scopes" (dap-request session "scopes" :frameId (gethash "id" (test-frame)))))
         (reference (gethash "variablesReference" (car scopes))))
    (mapcar (lambda (one) (cons (gethash "name" one) (gethash "value" one)))
            (gethash "variables" (dap-request session "variables" :variablesReference reference)))))

(defun test-over ()
  (test-until "it is over" (lambda () (not (dap--session-running (test-session))))))

;;; A session

(defun test-write (name text)
  (let ((path (concat test-folder name)))
    (with-temp-file path (set-buffer-file-coding-system 'utf-8) (insert text))
    path))

(defun test-open (path)
  (find-file path)
  (goto-char (point-min)))

(defun test-break (line)
  (goto-char (point-min))
  (forward-line (1- line))
  (dap-breakpoint-add))

;; The setup is that of docs/editors.md, to the letter; the pawl that it finds is ours.
(let ((bin (concat test-folder "bin/")))
  (make-directory bin)
  (make-symbolic-link test-pawl (concat bin "pawl"))
  (push bin exec-path)
  (setenv "PAWL_STORE" "memory:"))
(with-temp-buffer
  (insert-file-contents (expand-file-name "../../docs/editors.md" (file-name-directory load-file-name)))
  (search-forward "```elisp\n")
  (delete-region (point-min) (point))
  (search-forward "```")
  (delete-region (match-beginning 0) (point-max))
  (goto-char (point-min))
  (let (form)
    (while (setq form (ignore-errors (read (current-buffer)))) (eval form t))))

(defun test-begin (path &rest more)
  (dap-start-debugging
   (append (list :type "pawl" :request "launch" :name "Pawl" :dap-server-path (list test-pawl "dap" "--store" "memory:")
                 :program path :cwd test-folder)
           more)))

(defun test-end ()
  (dap-breakpoint-delete-all)
  (when (dap--session-running (test-session))
    (let ((proc (dap--debug-session-proc (test-session))))
      (dap-disconnect (test-session))
      (test-over)
      (test-same (process-exit-status proc) 0 "its exit code")))
  (dap-delete-all-sessions))

(defmacro test-case (title &rest body)
  (declare (indent 1))
  `(let ((problem (condition-case err (progn ,@body nil) (error (error-message-string err)))))
     (condition-case err (test-end) (error (setq problem (or problem (error-message-string err)))))
     (when problem
       (cl-incf test-failed)
       (princ (format "# %s\n" (replace-regexp-in-string "\n" "\n# " problem))))
     (princ (format "%s %d - %s\n" (if problem "not ok" "ok") (cl-incf test-number) ,title))))

;;; The cases

(let ((flow (test-write "flow.yaml" test-flow))
      (loop-file (test-write "loop.yaml" test-loop)))

  (test-case "a breakpoint in the buffer is verified and hit, and Emacs goes to its line"
    (test-open flow)
    (test-break 6)
    (test-begin flow)
    (test-same (test-place) '("two (jq)" 6) "the place")
    (test-same (list (buffer-file-name) (line-number-at-pos)) (list flow 6) "where point is")
    (test-same (gethash "verified" (car (gethash flow (dap--debug-session-breakpoints (test-session))))) t "the breakpoint")
    (dap-continue (test-session) (dap--debug-session-thread-id (test-session)))
    (test-over))

  (test-case "a step, the variables, an expression, and a value that was set"
    (test-open flow)
    (test-begin flow :stopOnEntry t)
    (test-same (test-place) '("one (jq)" 4) "the entry")
    (dap-next (test-session))
    (test-same (test-place) '("two (jq)" 6) "after a step")
    (let ((seen (test-variables)))
      (test-same (cdr (assoc "count" seen)) "1" "a number")
      (test-same (cdr (assoc "deep" seen)) "{\"list\":[1,{\"word\":\"grüße 🐈\"}]}" "text that is not ASCII"))
    (let ((frame (gethash "id" (test-frame))))
      (test-same (gethash "result" (dap-request (test-session) "evaluate" :expression ".deep.list[1].word" :frameId frame))
                 "\"grüße 🐈\"" "an expression")
      (dap-request (test-session) "setExpression" :expression ".count" :value "40" :frameId frame))
    (dap-step-in (test-session))
    (test-same (test-place) '("three (jq)" 8) "after a step in")
    (test-same (cdr (assoc "count" (test-variables))) "50" "what the node made of it"))

  (test-case "the template of docs/editors.md debugs the file in the buffer"
    (test-open flow)
    (test-break 8)
    (dap-debug (copy-tree (cdr (assoc "Pawl: this workflow" dap-debug-template-configurations))))
    (test-same (test-place) '("three (jq)" 8) "the place")
    (let ((frame (gethash "id" (test-frame))))
      (dap-request (test-session) "evaluate" :expression "back" :frameId frame :context "repl")
      (test-until "it went back" (lambda () (equal (test-place) '("two (jq)" 6))))))

  (test-case "dap-mode's own views can be shown"
    (test-open flow)
    (test-begin flow :stopOnEntry t)
    (test-frame)
    (dap-ui-locals)
    (dap-ui-locals--refresh) ; which Emacs does when it is idle
    (test-until "the locals show the state"
                (lambda ()
                  (with-current-buffer dap-ui--locals-buffer (string-match-p "State" (buffer-string)))))
    (dap-ui-breakpoints)
    (dap-ui-sessions)
    (test-until "the sessions show this one"
                (lambda () (with-current-buffer dap-ui--sessions-buffer (string-match-p "Pawl" (buffer-string))))))

  (test-case "an error of the workflow is told, and no session begins"
    (let ((bad (test-write "bad.yaml" "nodes:\n  - {name: a, jq: \"((\"}\n")))
      (test-open bad)
      (let ((inhibit-message t)) (test-begin bad))
      (test-until "it failed" (lambda () (eq 'failed (dap--debug-session-state (test-session)))))
      (unless (string-match-p "bad.yaml:2" (dap--debug-session-error-message (test-session)))
        (error "it said %s" (dap--debug-session-error-message (test-session))))))

  (test-case (format "%d runs of %d steps, and after each it stands where it should" test-runs test-steps)
    (dotimes (run test-runs)
      (test-open loop-file)
      (test-break 9)
      (test-begin loop-file)
      (test-same (test-place) '("add (jq)" 9) "where it begins")
      (dap-breakpoint-delete-all)
      (dotimes (step test-steps)
        (dap-next (test-session))
        (test-same (car (test-place)) (if (cl-evenp step) "look (jq)" "add (jq)") (format "run %d, step %d" run step))
        (when (zerop (% step 25))
          (test-same (cdr (assoc "n" (test-variables))) (number-to-string (/ (+ step 2) 2)) "what it counts")))
      (test-end))))

(princ (format "1..%d\n" test-number))
(delete-directory test-folder t)
(kill-emacs (if (zerop test-failed) 0 1))
;;; emacs.el ends here
